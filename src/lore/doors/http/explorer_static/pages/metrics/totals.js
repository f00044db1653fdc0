// totals: the few figures that say whether all is well.
import { html } from "htm/preact";
import { number, percent } from "../../format.js";
import { Icon } from "../../parts/icon.js";
import { durationOf } from "./words.js";

export function Totals({ metrics }) {
  const { calls, search, hours } = metrics;
  const sum = (name) => calls.reduce((all, one) => all + one[name], 0);
  const errors = sum("errors");
  const latest = hours.findLast((hour) => hour.calls);
  return html`<ul class="figures">
    <${Figure} icon="chart" label="Calls" value=${number(sum("calls"))} note=${errors ? `${number(errors)} failed` : "none failed"} tone=${errors ? "warn" : ""} />
    <${Figure} icon="clock" label="Typical answer" value=${durationOf(latest?.p50_ms)} note=${latest ? `19 of 20 within ${durationOf(latest.p95_ms)}` : ""} />
    <${Figure} icon="search" label="Searches" value=${number(search.searches)} note=${search.searches ? `${percent(search.with_hits / search.searches)} found something` : "none yet"} />
    <${Figure} icon="spark" label="Best hit" value=${search.mean_best_score == null ? "–" : Math.round(search.mean_best_score * 100)} note="of 100 points, on average" />
  </ul>`;
}

function Figure({ icon, label, value, note, tone = "" }) {
  return html`<li><div class=${`figure card still ${tone}`}>
    <span class="row faint small"><${Icon} name=${icon} size="15" />${label}</span><strong>${value}</strong><span class="faint small">${note}</span>
  </div></li>`;
}
