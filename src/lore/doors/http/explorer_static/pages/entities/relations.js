// relations: how an entity hangs together with others, as sentences to walk along.
import { html } from "htm/preact";
import { may } from "../../api.js";
import { change } from "../../changes.js";
import { Button } from "../../parts/button.js";
import { ask } from "../../parts/dialog.js";
import { Section } from "../../parts/page.js";
import { Time } from "../../parts/time.js";
import { href } from "../../router.js";
import { plain } from "../../words.js";

export function Relations({ entity, bonds, onChange }) {
  const active = bonds.filter(({ link }) => link.active);
  const ended = bonds.filter(({ link }) => !link.active);
  const out = active.filter(({ link }) => link.source === entity.id);
  const into = active.filter(({ link }) => link.source !== entity.id);
  return html`<${Section} title="Relations" actions=${html`<span class="count">${active.length}</span>`} flush>
    ${active.length === 0 && html`<p class="soft card-body">No relations to other people or things.</p>`}
    <${Direction} title="From here" bonds=${out} entity=${entity} onChange=${onChange} />
    <${Direction} title="To here" bonds=${into} entity=${entity} onChange=${onChange} />
    ${ended.length > 0 &&
    html`<details class="entity-past"><summary>Ended (${ended.length})</summary>
      <ul class="list">${ended.map((bond) => html`<${Sentence} key=${bond.link.id} bond=${bond} entity=${entity} />`)}</ul>
    </details>`}
  <//>`;
}

function Direction({ title, bonds, ...rest }) {
  if (!bonds.length) return null;
  return html`<h3 class="entity-direction">${title}</h3>
    <ul class="list">${bonds.map((bond) => html`<${Sentence} key=${bond.link.id} bond=${bond} ...${rest} />`)}</ul>`;
}

function Sentence({ bond: { link, source, target }, entity, onChange }) {
  const outward = link.source === entity.id;
  const other = html`<a class="link" href=${href("entities", outward ? link.target : link.source)}>${outward ? target : source}</a>`;
  const verb = plain(link.type || "is related to").toLowerCase();
  return html`<li class="entity-row">
    <div class="grow">
      <p>${outward ? html`${verb} ${other}` : html`${other} ${verb} ${entity.title}`}</p>
      ${!link.active && html`<div class="meta"><span>Ended <${Time} at=${link.ended_at} /></span></div>`}
    </div>
    ${link.active && may("write") && html`<${Button} small look="quiet" icon="close" label=${`End: ${source} ${verb} ${target}`} onClick=${() => end(link, `${source} ${verb} ${target}`, onChange)} />`}
  </li>`;
}

async function end(link, sentence, onChange) {
  const sure = await ask({ title: "End this relation?", text: `“${sentence}” is no longer true from now on. It stays in the history.`, action: "End it" });
  if (sure) await change("end_relation", { alias: link.alias }, { done: "The relation has ended.", id: link.id }).finally(onChange);
}
