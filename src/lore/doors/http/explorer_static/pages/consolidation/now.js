// now: what consolidation does at this moment, or when it does something next.
import { html } from "htm/preact";
import { may } from "../../api.js";
import { ago, count, number } from "../../format.js";
import { useGet } from "../../load.js";
import { Icon } from "../../parts/icon.js";
import { Section } from "../../parts/page.js";
import { Bar } from "../../parts/score.js";
import { Notice } from "../../parts/states.js";
import { href } from "../../router.js";
import { countsOf, durationOf, phaseHelp, phaseName } from "./words.js";

export function Now({ state, isAtWork }) {
  const title = { running: "It is at work", planning: "It makes a plan" }[state.state] ?? "Now";
  return html`<${Section} title=${title}>
    ${isAtWork ? html`<${Steps} state=${state} />` : html`<${Quiet} state=${state} />`}
  <//>`;
}

/** The phases of a run, those before the present one marked as done. */
function Steps({ state }) {
  const phases = state.phases?.length ? state.phases : state.known_phases;
  const at = phases.indexOf(state.phase);
  return html`<div class="stack">
    <p class="hidden-text" role="status">${state.phase ? phaseName(state.phase) : "Beginning"}</p>
    ${at < 0 && html`<${Step} phase=${state.phase || "embed"} state=${state} isNow />`}
    <ol class="phases">
      ${phases.map((phase, index) => html`<li key=${phase}><${Step} phase=${phase} state=${state} isNow=${index === at} isDone=${index < at} /></li>`)}
    </ol>
  </div>`;
}

function Step({ phase, state, isNow, isDone }) {
  const { done, total } = state;
  return html`<div class=${`phase ${isNow ? "now" : isDone ? "done" : ""}`} aria-current=${isNow ? "step" : undefined}>
    <span class="phase-mark">${isDone && html`<${Icon} name="check" size="14" />`}</span>
    <div class="grow">
      <div class="row spread"><strong>${phaseName(phase)}</strong>${isNow && total > 0 && html`<span class="faint small">${number(done)} of ${number(total)}</span>`}</div>
      ${isNow && html`<div class="bar-line" role="progressbar" aria-label=${phaseName(phase)} aria-valuemin="0" aria-valuemax=${total || 1} aria-valuenow=${done}><${Bar} share=${total ? done / total : 0} /></div>`}
      ${isNow && html`<p class="faint small">${phaseHelp(phase)}</p>`}
    </div>
  </div>`;
}

function Quiet({ state }) {
  const { value: settings } = useGet(may("admin") ? "settings" : null, { live: false });
  const interval = settings?.settings.find((one) => one.name === "consolidation_interval")?.used;
  const [last] = state.runs;
  return html`<div class="stack tight">
    ${state.state === "failed" && html`<${Notice} tone="bad" icon="warning">The run failed: ${state.error}<//>`}
    ${state.state === "stopped" && html`<${Notice}>It was stopped${state.phase ? ` at “${phaseName(state.phase)}”` : ""}. What was done until then stays; the next run goes on.<//>`}
    ${state.state === "done" && state.report && html`<${Notice} icon="check">Done in ${durationOf(state.report.seconds)}: ${countsOf(state.report.counts).join(", ") || "there was nothing to do"}.<//>`}
    ${state.busy && html`<${Notice}>Another process of Lore consolidates right now.<//>`}
    <dl class="facts">
      <dt>Last run</dt>
      <dd>${last ? ago(last.began_at) : "Never"}</dd>
      <dt>Next run</dt>
      <dd>${nextOf(state, interval)}</dd>
      <dt>To learn from</dt>
      <dd>${state.staged ? html`<a class="link" href=${href("sessions")}>${count(state.staged, "conversation")}</a>` : "Nothing waits"}</dd>
      <dt>Helped by</dt>
      <dd>${modelOf(state.language_model)}</dd>
    </dl>
  </div>`;
}

/** When the next run is due. interval: seconds between two, if the reader may know them. */
function nextOf({ next_at: due, runs }, interval) {
  const at = due ?? (interval && runs.length ? runs[0].began_at + interval : undefined);
  if (interval === 0) return "Only when somebody begins one: consolidation_interval is 0";
  if (at === undefined) return "By itself, while Lore runs";
  return at > Date.now() / 1000 + 60 ? `By itself, ${ago(at)}` : "By itself, as soon as Lore is idle";
}

function modelOf(models) {
  if (!models) return html`Rules alone; a language model can be chosen in the <a class="link" href=${href("settings")}>settings</a>`;
  if (models.trouble) return `No language model: ${models.trouble}`;
  const names = [...new Set(Object.entries(models).filter(([role]) => ["extraction", "compression"].includes(role)).map(([, name]) => name))];
  return names.join(", ") + (models.address ? ` at ${models.address}` : "");
}
