// presence: how present a memory was, is and will be if nobody uses it.
import { html } from "htm/preact";
import { useMemo } from "preact/hooks";
import { percent } from "../../format.js";
import { useVerb } from "../../load.js";
import { Chart } from "../../parts/chart.js";
import { Section } from "../../parts/page.js";
import { Bar } from "../../parts/score.js";
import { Failed, Loading } from "../../parts/states.js";

const SERIES = [
  { label: "So far", fill: true },
  { label: "If nobody uses it", tone: "--ink-faint", dash: [5, 4] },
];
const DAY = 86_400;

export function Presence({ reading }) {
  const { memory, relevance } = reading;
  const gone = memory.forgotten_at != null;
  const curve = useVerb("relevance_curve", gone ? null : { id: memory.id }, { live: (ids) => ids.includes(memory.id) });
  if (gone) return null;
  return html`<${Section} title="How present it is">
    <div class="stack tight">
      <div class="row"><div class="bar-line grow"><${Bar} share=${relevance} /></div><strong>${percent(relevance)}</strong></div>
      ${curve.value ? html`<${Curve} curve=${curve.value} />` : curve.error ? curve.error.status !== 404 && html`<${Failed} error=${curve.error} />` : html`<${Loading} lines="2" />`}
      <p class="faint small">It fades while nobody needs it, slower the more important it is, and comes back with every use.</p>
    </div>
  <//>`;
}

function Curve({ curve }) {
  const data = useMemo(() => split(curve), [curve]);
  const end = curve.points.at(-1);
  const label = `Presence over time: ${percent(nowOf(curve))} now, ${percent(end?.[1] ?? 0)} in ${Math.round(((end?.[0] ?? 0) - curve.now) / DAY)} days without use`;
  const axes = { y: (value) => `${Math.round(value * 100)}%` };
  return html`<${Chart} data=${data} series=${SERIES} label=${label} height=${150} range=${[0, 1]} axes=${axes} marks=${[{ at: curve.now, text: "now" }]} />`;
}

function nowOf({ points, now }) {
  return points.findLast(([at]) => at <= now)?.[1] ?? 0;
}

/** The points as uPlot wants them: times, past, future; both meet at now. */
function split({ points, now }) {
  const times = points.map(([at]) => at);
  const last = times.findLastIndex((at) => at <= now);
  return [
    times,
    points.map(([, value], index) => (index <= last ? value : null)),
    points.map(([, value], index) => (index >= last ? value : null)),
  ];
}
