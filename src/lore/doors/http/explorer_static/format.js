// format: numbers, sizes and times as people read them.
const DAY = 86_400;
const UNITS = [
  ["year", 365 * DAY],
  ["month", 30.44 * DAY],
  ["week", 7 * DAY],
  ["day", DAY],
  ["hour", 3600],
  ["minute", 60],
];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "long" });
const whole = new Intl.NumberFormat("en");
const day = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", year: "numeric" });
const moment = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });

export const number = (value) => whole.format(value);
export const dayOf = (at) => day.format(at * 1000);
export const momentOf = (at) => moment.format(at * 1000);
export const percent = (share) => `${Math.round(Math.min(1, Math.max(0, share)) * 100)}%`;

/** "3 memories", "1 memory". */
export function count(value, one, many = `${one}s`) {
  return `${number(value)} ${value === 1 ? one : many}`;
}

/** "5 minutes ago", "yesterday", "in 3 days". */
export function ago(at, now = Date.now() / 1000) {
  const seconds = at - now;
  for (const [unit, length] of UNITS) {
    if (Math.abs(seconds) >= length) return relative.format(Math.trunc(seconds / length), unit);
  }
  return "just now";
}

export function bytes(value) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const step = value > 0 ? Math.min(units.length - 1, Math.floor(Math.log10(value) / 3)) : 0;
  const scaled = value / 1000 ** step;
  return `${step && scaled < 10 ? scaled.toFixed(1) : Math.round(scaled)} ${units[step]}`;
}

/** Text on one line, cut to a length at a word. */
export function oneLine(text, length = 120) {
  const line = text.replace(/\s+/g, " ").trim();
  if (line.length <= length) return line;
  const cut = line.slice(0, length - 1);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(" "), length * 0.6))}…`;
}

/** How a memory is called on one line. */
export function labelOf(memory, length = 90) {
  return oneLine(memory.title || memory.content || "", length) || "(empty)";
}

/** Midnight of the day `days` ago, in seconds. */
export function dayStart(days = 0) {
  const date = new Date();
  date.setHours(0, 0, 0, 0);
  date.setDate(date.getDate() - days);
  return date.getTime() / 1000;
}
