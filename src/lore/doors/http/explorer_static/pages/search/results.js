// results: the hits, beside the reasons for the one that is chosen.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { composing } from "../../compose.js";
import { count, labelOf, number } from "../../format.js";
import { Button } from "../../parts/button.js";
import { StateChips, TypeChip } from "../../parts/chip.js";
import { Icon } from "../../parts/icon.js";
import { Crumbs } from "../../parts/memory.js";
import { Score, ShortReasons } from "../../parts/score.js";
import { Empty, Failed, Loading, Notice } from "../../parts/states.js";
import { Marked, passageOf, wordsOf } from "../../parts/text.js";
import { Time } from "../../parts/time.js";
import { href, setParams } from "../../router.js";
import { kindIcon, projectName } from "../../words.js";
import { Details } from "./details.js";
import { questionsOf } from "./results_load.js";

export function Results({ results, params, at, onAt, wide, listRef }) {
  if (results.error && !results.hits) return html`<${Failed} error=${results.error} retry=${results.reload} />`;
  if (!results.hits) return html`<${Loading} lines="9" label="Searching" />`;
  if (!results.hits.length) return html`<${Nothing} params=${params} answer=${results.answer} />`;
  const words = wordsOf([...questionsOf(params), params.q ?? ""].join(" "));
  const chosen = results.hits[Math.min(at, results.hits.length - 1)];
  const hitProps = { words, wide, onAt };
  return html`<div class=${`results ${wide ? "with-details" : ""}`} aria-busy=${String(results.loading)}>
    <div class="stack tight">
      <${Summary} results=${results} params=${params} />
      <${State} answer=${results.answer} />
      <ol class="hits" ref=${listRef}>
        ${results.hits.map(
          (hit, index) => html`<${Hit} key=${hit.memory.id} ...${hitProps} hit=${hit} index=${index} chosen=${hit === chosen} below=${results.below[hit.memory.id]} />`,
        )}
      </ol>
      ${results.more && html`<${Button} onClick=${() => setParams({ more: String(Number(params.more || 0) + 1) })}>Show more<//>`}
    </div>
    ${wide && html`<aside class="details" aria-label="About the chosen result"><${Details} hit=${chosen} words=${words} below=${results.below[chosen.memory.id]} /></aside>`}
  </div>`;
}

function Summary({ results, params }) {
  const total = results.hits.length;
  const text = params.q ? count(total, "result") : `${count(total, "memory", "memories")}${results.more ? " so far" : ""}`;
  const refine = () => setParams({ in: [...questionsOf(params), params.q].join("\n"), q: "" }, {});
  return html`<div class="row spread result-summary">
    <p class="soft small" role="status">${text}${notesOf(results.answer)}</p>
    ${params.q && total > 1 && html`<${Button} small look="quiet" icon="filter" onClick=${refine}>Search within these<//>`}
  </div>`;
}

/** What else there is, in one line. */
function notesOf(answer) {
  const notes = [];
  if (answer?.cut) notes.push(`${number(answer.cut)} more below`);
  if (answer?.elsewhere) notes.push(`${count(answer.elsewhere, "weaker one")} in other projects`);
  if (answer?.repeated) notes.push(`${count(answer.repeated, "repetition")} left out`);
  return notes.length ? ` · ${notes.join(" · ")}` : "";
}

function State({ answer }) {
  if (!answer || answer.embedding_state === "ready") return null;
  const why = answer.embedding_state === "warming" ? "the language model is still loading" : answer.error;
  return html`<${Notice} tone="warn" icon="warning">Only the words were compared, not the meaning: ${why}.<//>`;
}

function Hit({ hit, index, words, chosen, below, wide, onAt }) {
  const { memory } = hit;
  const [open, setOpen] = useState(false);
  const choose = () => onAt(index);
  const passage = passageOf(memory.content, words);
  const label = labelOf(memory, 110);
  return html`<li class=${`hit ${chosen && wide ? "chosen" : ""}`} onPointerEnter=${choose} onFocusIn=${choose}>
    <${Icon} name=${kindIcon(memory.kind)} size="17" />
    <div class="grow">
      ${hit.breadcrumb?.length > 0 && html`<${Crumbs} steps=${hit.breadcrumb} />`}
      <div class="row hit-title">
        <a class="hit-link grow" href=${href("memory", memory.id)}><${Marked} text=${label} words=${words} /></a>
        ${hit.score != null && html`<${Score} score=${hit.score} />`}
      </div>
      ${passage !== label && html`<p class="hit-passage"><${Marked} text=${passage} words=${words} /></p>`}
      <div class="meta">
        <${TypeChip} memory=${memory} /><${StateChips} memory=${memory} />
        <${Time} at=${memory.created_at} />
        ${memory.project && html`<span><${Icon} name="folder" size="13" /><span class="cut">${projectName(memory.project)}</span></span>`}
        ${hit.score != null && !wide &&
        html`<button type="button" class="link-button" aria-expanded=${String(open)} onClick=${() => setOpen(!open)}>${open ? "Hide the reasons" : "Why this?"}</button>`}
        ${hit.score != null && wide && html`<${ShortReasons} hit=${hit} />`}
        ${below > 0 &&
        html`<button type="button" class="link-button" onClick=${() => setParams({ under: memory.id }, {})}>
          <${Icon} name="tree" size="13" />${number(below)} below it
        </button>`}
      </div>
      ${open && !wide && html`<div class="details"><${Details} hit=${hit} words=${words} brief /></div>`}
    </div>
  </li>`;
}

function Nothing({ params, answer }) {
  const filtered = ["project", "kind", "type", "days", "trust", "under", "in"].some((name) => params[name]);
  const clear = () => setParams({ project: "", kind: "", type: "", days: "", trust: "", state: "", under: "", in: "" }, {});
  if (!params.q && !filtered) {
    return html`<${Empty} icon="spark" title="Nothing is remembered yet">
      <p>Memories appear here as your agents learn. You can also add the first one yourself.</p>
      <div class="row"><${Button} look="main" icon="plus" onClick=${() => composing.set({})}>Add a memory<//></div>
    <//>`;
  }
  return html`<${Empty} icon="search" title="Nothing fits">
    <p>${answer?.hidden ? `${count(answer.hidden, "weak match", "weak matches")} had too little to do with it.` : "Other words may help: say it as you would ask a colleague."}</p>
    <div class="row">
      ${filtered && html`<${Button} onClick=${clear}>Search everything<//>`}
      ${params.q && html`<${Button} icon="plus" onClick=${() => composing.set({ content: params.q })}>Remember this instead<//>`}
    </div>
  <//>`;
}
