// curves: how the memory grows, and how much of it is fading.
import { html } from "htm/preact";
import { useMemo, useState } from "preact/hooks";
import { count, number } from "../../format.js";
import { useVerb } from "../../load.js";
import { Segments } from "../../parts/button.js";
import { Chart } from "../../parts/chart.js";
import { Section } from "../../parts/page.js";
import { Loaded } from "../../parts/states.js";

const RANGES = [[30, "30 days"], [90, "90 days"], [365, "Year"]];
const TOTAL = [{ label: "Memories", fill: true, value: number }];
const TENTHS = [{ label: "Memories", bars: true, value: number }];

export function Curves() {
  const [days, setDays] = useState(90);
  const growth = useVerb("growth", { days });
  const choice = html`<${Segments} label="Time" options=${RANGES} value=${days} onChange=${setDays} />`;
  return html`<div class="stack">
    <${Section} title="How it grows" actions=${choice}>
      <${Loaded} from=${growth} lines="4">${(value) => html`<${Growth} days=${value.days} />`}<//>
    <//>
    <${Section} title="How present it is">
      <${Loaded} from=${growth} lines="4">${(value) => html`<${Tenths} relevance=${value.relevance} />`}<//>
    <//>
  </div>`;
}

function Growth({ days }) {
  const data = useMemo(() => [days.map(({ day }) => Date.parse(`${day}T12:00:00Z`) / 1000), days.map(({ total }) => total)], [days]);
  const sum = (name) => days.reduce((all, day) => all + day[name], 0);
  const [learnt, replaced, forgotten] = ["learnt", "replaced", "forgotten"].map(sum);
  const label = `Memories by day: ${number(days[0]?.total ?? 0)} at first, ${number(days.at(-1)?.total ?? 0)} now`;
  return html`<${Chart} data=${data} series=${TOTAL} label=${label} height=${190} range=${fromZero} axes=${{ y: number }} />
    <p class="curve-note"><b>${number(learnt)}</b> learnt <b>${number(replaced)}</b> replaced <b>${number(forgotten)}</b> forgotten</p>`;
}

function fromZero(_, low, high) {
  return [0, Math.max(4, Math.ceil((high || 0) * 1.1))];
}

function Tenths({ relevance }) {
  const data = useMemo(() => [relevance.map((_, at) => at * 10 + 5), relevance], [relevance]);
  const fading = relevance.slice(0, 2).reduce((sum, one) => sum + one, 0);
  const fresh = relevance.slice(5).reduce((sum, one) => sum + one, 0);
  const label = `Memories by presence: ${number(fresh)} fresh, ${number(fading)} fading`;
  return html`<${Chart} data=${data} series=${TENTHS} label=${label} height=${170} time=${false} range=${fromZero}
      axes=${{ x: (value) => `${value}%`, y: number }} />
    <p class="curve-note">${count(fresh, "memory is", "memories are")} fresh, ${number(fading)} almost faded. A memory that nobody needs fades; each use brings it back.</p>`;
}
