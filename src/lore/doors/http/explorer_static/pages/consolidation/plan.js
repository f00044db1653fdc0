// plan: what a run would do now, phase by phase, before anything is changed.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { Button } from "../../parts/button.js";
import { Icon } from "../../parts/icon.js";
import { Section } from "../../parts/page.js";
import { countsOf, phaseHelp, phaseName } from "./words.js";

const SHOWN = 4;

export function Plan({ state, isAtWork, onPlan, onRun }) {
  const result = state.plan ?? state.report;
  const title = state.report && !state.plan ? "What it has done" : "What a run would do";
  const again = html`<${Button} small icon="eye" disabled=${isAtWork} onClick=${onPlan}>${state.plan ? "Plan again" : "Show the plan"}<//>`;
  return html`<${Section} title=${title} actions=${again}>
    ${result
      ? html`<${Phases} result=${result} onRun=${state.plan && !isAtWork ? onRun : undefined} />`
      : html`<p class="soft">A plan changes nothing: see what would be learnt, joined and forgotten before it happens.</p>`}
  <//>`;
}

const isBusy = (phase) => phase.steps.length > 0 || phase.remarks.length > 0 || countsOf(phase.counts).length > 0;

function Phases({ result, onRun }) {
  const busy = result.phases.filter(isBusy);
  const others = result.phases.filter((phase) => !isBusy(phase));
  return html`<div class="stack">
    ${result.fallback && html`<p class="soft">Rules do the work of the language model: ${result.fallback}</p>`}
    ${!busy.length && html`<p class="row"><${Icon} name="check" size="16" />${onRun ? "Everything is in order: a run would change nothing." : "Everything was in order: nothing was changed."}</p>`}
    <ul class="stack">
      ${busy.map((phase) => html`<li key=${phase.phase}><${Phase} result=${phase} onRun=${onRun} /></li>`)}
    </ul>
    ${busy.length > 0 && others.length > 0 && html`<p class="faint small">Nothing to do: ${others.map((one) => phaseName(one.phase).toLowerCase()).join(", ")}.</p>`}
  </div>`;
}

function Phase({ result, onRun }) {
  const [all, setAll] = useState(false);
  const { phase, steps, counts, remarks } = result;
  const words = countsOf(counts);
  return html`<div class="plan-phase">
    <div class="row spread">
      <h3>${phaseName(phase)}</h3>
      ${onRun && html`<${Button} small look="quiet" icon="play" label=${`Only this now: ${phaseName(phase)}`} onClick=${() => onRun([phase])} />`}
    </div>
    <p class="soft">${words.length ? `${words.join(", ")}.` : phaseHelp(phase)}</p>
    ${steps.length > 0 &&
    html`<ul class="plan-steps">${steps.slice(0, all ? undefined : SHOWN).map((step, at) => html`<li key=${at} class="prose">${step}</li>`)}</ul>`}
    ${!all && steps.length > SHOWN && html`<div><${Button} small onClick=${() => setAll(true)}>Show all ${steps.length}<//></div>`}
    ${remarks.map((remark, at) => html`<p key=${at} class="row plan-remark"><${Icon} name="warning" size="15" /><span>${remark}</span></p>`)}
  </div>`;
}
