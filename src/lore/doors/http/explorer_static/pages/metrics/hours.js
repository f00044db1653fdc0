// hours: the figures hour by hour, as charts.
import { html } from "htm/preact";
import { useMemo } from "preact/hooks";
import { count, number } from "../../format.js";
import { Chart } from "../../parts/chart.js";
import { Section } from "../../parts/page.js";
import { durationOf } from "./words.js";

const HOUR = 3600;
const FEWEST = 12;
const CALLS = [{ label: "Calls", bars: true, value: number }];
const TIMES = [
  { label: "19 of 20 within", tone: "--line-strong", bars: true, value: durationOf },
  { label: "Half within", bars: true, value: durationOf },
];
const SEARCHES = [
  { label: "Searches", tone: "--warn", bars: true, value: number },
  { label: "With hits", bars: true, value: number },
];

const BEST = [{ label: "Best hit", tone: "--good", bars: true, value: number }];

export function Hours({ metrics }) {
  const hours = useMemo(() => filled(metrics.hours), [metrics]);
  const column = (name, empty = 0) => hours.map((hour) => hour[name] ?? empty);
  const at = column("at");
  const calls = useMemo(() => [at, column("calls")], [hours]);
  const times = useMemo(() => [at, column("p95_ms", null), column("p50_ms", null)], [hours]);
  const searches = useMemo(() => [at, column("searches"), column("with_hits")], [hours]);
  const best = useMemo(() => [at, hours.map((hour) => (hour.mean_best_score == null ? null : Math.round(hour.mean_best_score * 100)))], [hours]);
  const { search } = metrics;
  return html`<div class="home-grid">
    <${Section} title="Calls by hour">
      <${Chart} data=${calls} series=${CALLS} label=${`Calls by hour, ${number(sumOf(calls[1]))} in all`} range=${fromZero} axes=${{ y: number }} />
      <p class="curve-note"><b>${number(sumOf(calls[1]))}</b> calls in ${count(hours.length - 1, "hour")}</p>
    <//>
    <${Section} title="Time of an answer, in milliseconds">
      <${Chart} data=${times} series=${TIMES} label="Time of an answer by hour" range=${fromZero} axes=${{ y: number }} />
      <p class="curve-note"><b class="metrics-half">■</b> half of the calls are faster <b class="metrics-slow">■</b> 19 of 20 are faster</p>
    <//>
    <${Section} title="Searches by hour">
      ${search.searches
        ? html`<${Chart} data=${searches} series=${SEARCHES} label=${`Searches by hour: ${number(search.with_hits)} with hits, ${number(search.without_hits)} without`} range=${fromZero} axes=${{ y: number }} />
            <p class="curve-note"><b>${number(search.with_hits)}</b> found something <b class="metrics-missed">${number(search.without_hits)}</b> found nothing</p>`
        : html`<p class="soft">Nobody has searched yet.</p>`}
    <//>
    <${Section} title="Best hit by hour, out of 100">
      ${search.with_hits
        ? html`<${Chart} data=${best} series=${BEST} label=${`Points of the best hit by hour, ${Math.round(search.mean_best_score * 100)} on average`} range=${hundred} axes=${{ y: number }} />
            <p class="curve-note"><b>${Math.round(search.mean_best_score * 100)}</b> points has the best hit of a search on average</p>`
        : html`<p class="soft">No search has found anything yet.</p>`}
    <//>
  </div>`;
}

const sumOf = (values) => values.reduce((all, one) => all + one, 0);

const hundred = () => [0, 100];

function fromZero(_, low, high) {
  return [0, Math.max(4, (high || 0) * 1.1)];
}

/** All hours from the first to the one after the last, at least half a day; hours without a call are empty. */
function filled(hours) {
  const byTime = new Map(hours.map((hour) => [hour.at, hour]));
  const last = hours.at(-1)?.at ?? Math.floor(Date.now() / 1000 / HOUR) * HOUR;
  const first = Math.min(hours[0]?.at ?? last, last - (FEWEST - 1) * HOUR);
  return Array.from({ length: (last - first) / HOUR + 2 }, (_, step) => byTime.get(first + step * HOUR) ?? { at: first + step * HOUR });
}
