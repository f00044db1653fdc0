// scrubber: the number of memories over time, with a handle for the day. The handle is a slider, so keys move it too.
import { html } from "htm/preact";
import { useMemo } from "preact/hooks";
import { count, number } from "../../format.js";
import { longDay, shortDay } from "./days.js";

const HEIGHT = 100;
const ROOM = 1.15;
const BARS = 0.4;

export function Scrubber({ days, day, onPick }) {
  const last = days.length - 1;
  const found = days.findIndex((one) => one.day === day);
  const at = found < 0 ? 0 : found;
  const { area, bars } = useMemo(() => shapes(days), [days]);
  const { total, learnt } = days[at];
  const early = found < 0 && day < days[0].day;
  return html`<div class="scrubber">
    <svg viewBox=${`0 0 ${days.length} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <path class="scrubber-area" d=${area} />
      <path class="scrubber-bars" d=${bars} />
      ${!early && html`<rect class="scrubber-past" x=${at + 1} y="0" width=${Math.max(0, last - at)} height=${HEIGHT} />`}
    </svg>
    <input
      type="range" min="0" max=${last} step="1" value=${at} aria-label="Day" class=${early ? "early" : ""}
      aria-valuetext=${`${longDay(days[at].day)}: ${count(total, "memory", "memories")}, ${number(learnt)} learnt that day`}
      onInput=${(event) => onPick(days[Number(event.currentTarget.value)].day)}
    />
    <div class="row spread faint small scrubber-axis" aria-hidden="true">
      <span>${shortDay(days[0].day)}</span><span>${number(max(days, "total"))} memories at most</span><span>${shortDay(days[last].day)}</span>
    </div>
  </div>`;
}

/** The curve of all memories, and a column for what was learnt on each day. */
function shapes(days) {
  const top = Math.max(1, max(days, "total")) * ROOM;
  const most = Math.max(1, max(days, "learnt"));
  const y = (value) => (HEIGHT - (value / top) * HEIGHT).toFixed(2);
  const curve = days.map(({ total }, at) => `L${at + 0.5} ${y(total)}`).join("");
  const area = `M0 ${HEIGHT}L0 ${y(days[0].total)}${curve}L${days.length} ${y(days.at(-1).total)}L${days.length} ${HEIGHT}Z`;
  const bars = days
    .map(({ learnt }, at) => (learnt ? `M${at + 0.15} ${HEIGHT}h0.7v${(-(learnt / most) * HEIGHT * BARS).toFixed(2)}h-0.7Z` : ""))
    .join("");
  return { area, bars };
}

function max(days, name) {
  return days.reduce((most, one) => Math.max(most, one[name]), 0);
}
