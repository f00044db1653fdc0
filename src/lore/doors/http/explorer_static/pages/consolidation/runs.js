// runs: the consolidations before, the latest first.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { count, momentOf } from "../../format.js";
import { Button } from "../../parts/button.js";
import { Chip } from "../../parts/chip.js";
import { Icon } from "../../parts/icon.js";
import { Section } from "../../parts/page.js";
import { Empty } from "../../parts/states.js";
import { Time } from "../../parts/time.js";
import { countsOf, durationOf, phaseName } from "./words.js";

const SHOWN = 10;

export function Runs({ runs, phases }) {
  const [all, setAll] = useState(false);
  return html`<${Section} title="Past runs" flush>
    ${!runs.length && html`<${Empty} icon="sleep" title="No runs yet"><p>Lore consolidates by itself once there is something to learn from.</p><//>`}
    <ul class="list">
      ${runs.slice(0, all ? undefined : SHOWN).map((run) => html`<li key=${run.began_at}><${Run} run=${run} whole=${run.phases.length === phases.length} /></li>`)}
    </ul>
    ${!all && runs.length > SHOWN && html`<div class="padded-more"><${Button} small onClick=${() => setAll(true)}>Show all ${runs.length}<//></div>`}
  <//>`;
}

function Run({ run, whole }) {
  const words = countsOf(run.counts);
  const remarks = [...run.remarks, ...(run.fallback ? [`Rules did the work of the language model: ${run.fallback}`] : [])];
  return html`<div class="memory-row">
    <${Icon} name=${words.length ? "spark" : "check"} size="16" />
    <div class="grow stack tight">
      <strong>${words.length ? words.join(", ") : "Everything was in order"}</strong>
      <span class="meta">
        <span>${momentOf(run.began_at)}</span><span>took ${durationOf(run.seconds)}</span>
        ${!whole && html`<${Chip}>Only: ${run.phases.map(phaseName).join(", ").toLowerCase()}<//>`}
      </span>
      ${remarks.length > 0 &&
      html`<details class="run-remarks"><summary>${count(remarks.length, "remark")}</summary><ul>${remarks.map((one, at) => html`<li key=${at} class="prose">${one}</li>`)}</ul></details>`}
    </div>
    <span class="side-note"><${Time} at=${run.began_at} /></span>
  </div>`;
}
