// days: dates as YYYY-MM-DD in the reader's time zone.
const long = new Intl.DateTimeFormat("en", { weekday: "long", day: "numeric", month: "long", year: "numeric" });
const short = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", year: "numeric" });

const two = (value) => String(value).padStart(2, "0");

function textOf(date) {
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

function dateOf(day) {
  const [year, month, date] = day.split("-").map(Number);
  return new Date(year, month - 1, date);
}

export const today = () => textOf(new Date());
export const longDay = (day) => long.format(dateOf(day));
export const shortDay = (day) => short.format(dateOf(day));

/** The day that is `days` days earlier; later if it is negative. */
export function dayBefore(day, days) {
  const date = dateOf(day);
  date.setDate(date.getDate() - days);
  return textOf(date);
}

/** [begin, end] of a day in seconds; today ends now. */
export function secondsOf(day) {
  const end = dateOf(dayBefore(day, -1)).getTime() / 1000;
  return [dateOf(day).getTime() / 1000, Math.min(end, Date.now() / 1000)];
}
