// timeline: what was known on a day, what has become of it since, and what happened that day.
import { html } from "htm/preact";
import { useEffect, useState } from "preact/hooks";
import { useKeys } from "../keys.js";
import { useVerb } from "../load.js";
import { Button, Segments } from "../parts/button.js";
import { Page } from "../parts/page.js";
import { Loaded } from "../parts/states.js";
import { setParams } from "../router.js";
import { dayBefore, longDay, today } from "./timeline/days.js";
import { KnownThen } from "./timeline/known.js";
import { Scrubber } from "./timeline/scrubber.js";
import { ThatDay } from "./timeline/that-day.js";

const RANGES = [["30", "30 days"], ["90", "90 days"], ["365", "Year"], ["1825", "5 years"]];
const REST_MILLISECONDS = 200;
const WEEK = 7;

export default function Timeline({ route: { params } }) {
  const range = RANGES.some(([days]) => days === params.days) ? params.days : "90";
  const growth = useVerb("growth", { days: Number(range), offset_minutes: -new Date().getTimezoneOffset() });
  const [day, setDay] = useState(isDay(params.day) ? params.day : dayBefore(today(), WEEK));
  const rested = useRested(day);
  const move = (days) => setDay((now) => (dayBefore(now, -days) > today() ? now : dayBefore(now, -days)));
  useEffect(() => setParams({ day: rested }), [rested]);
  useKeys([
    { keys: "[", label: "A day back", group: "Timeline", run: () => move(-1) },
    { keys: "]", label: "A day on", group: "Timeline", run: () => move(1) },
  ]);
  const ranges = html`<${Segments} label="Time in the chart" options=${RANGES} value=${range} onChange=${(days) => setParams({ days: days === "90" ? "" : days })} />`;
  return html`<${Page} title="Timeline" about="What Lore knew on a day, and what has become of it since.">
    <section class="card padded stack timeline-top" aria-label="The day">
      <div class="row wrap spread">
        <div class="row wrap">
          <${Button} small icon="left" label="A day back" onClick=${() => move(-1)} />
          <${Button} small icon="right" label="A day on" disabled=${day >= today()} onClick=${() => move(1)} />
          <input type="date" class="input timeline-date" aria-label="Day" value=${day} max=${today()}
            onChange=${(event) => isDay(event.currentTarget.value) && event.currentTarget.value <= today() && setDay(event.currentTarget.value)} />
          <h2 class="timeline-day" aria-live="polite">${longDay(day)}</h2>
        </div>
        ${ranges}
      </div>
      <${Loaded} from=${growth} lines="4">${({ days }) => html`<${Scrubber} days=${days} day=${day} onPick=${setDay} />`}<//>
    </section>
    <div class="timeline-page">
      <${KnownThen} day=${rested} />
      <${ThatDay} day=${rested} counts=${growth.value?.days.find((one) => one.day === rested)} />
    </div>
  <//>`;
}

function isDay(text) {
  return /^\d{4}-\d{2}-\d{2}$/.test(text ?? "") && !Number.isNaN(Date.parse(text));
}

/** A value once it has not changed for a moment. */
function useRested(value) {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), REST_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}
