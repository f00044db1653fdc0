// care: entities that are too large, repeat themselves, or are not used.
import { html } from "htm/preact";
import { count, number, oneLine } from "../../format.js";
import { Icon } from "../../parts/icon.js";
import { Section } from "../../parts/page.js";
import { Empty } from "../../parts/states.js";
import { href } from "../../router.js";

export const STALE_DAYS = 90;
const SHOWN = 20;

/** How many entities the report names. */
export function troubles({ large, flagged, stale }) {
  const ids = [...large, ...flagged.map(([view]) => view), ...stale.map((one) => one.view)].map((view) => view.entity.id);
  return new Set(ids).size;
}

export function Care({ report: { splits, large, flagged, stale } }) {
  if (!large.length && !flagged.length && !stale.length) {
    return html`<${Empty} icon="check" title="All in order"><p>Nothing is too large, says things twice or lies unused.</p><//>`;
  }
  const topics = new Map(splits.map((one) => [one.view.entity.id, Object.keys(one.topics).length]));
  return html`<div class="stack">
    <${Group} title="Too large" about="So much is known that it may be several things." rows=${large.map((view) => ({
      view, note: topics.has(view.entity.id) ? `${count(view.observations.length, "observation")}, ${count(topics.get(view.entity.id), "topic")}` : count(view.observations.length, "observation"),
    }))} />
    <${Group} title="Says things twice" about="An observation repeats an older one." rows=${flagged.map(([view, memory]) => ({ view, key: memory.id, note: `“${oneLine(memory.content, 70)}”` }))} />
    <${Group} title="Not used lately" about=${`Nobody asked for it in ${STALE_DAYS} days or more.`} rows=${stale.map(({ view, days }) => ({ view, note: `${number(Math.round(days))} days` }))} />
  </div>`;
}

function Group({ title, about, rows }) {
  if (!rows.length) return null;
  return html`<${Section} title=${title} flush actions=${html`<span class="faint small">${about}</span>`}>
    <ul class="list entity-care">
      ${rows.slice(0, SHOWN).map(
        ({ view, key = view.entity.id, note }) => html`<li key=${key}>
          <a class="memory-row" href=${href("entities", view.entity.id)}>
            <${Icon} name="entity" size="16" /><strong class="cut">${view.name}</strong><span class="side-note">${note}</span>
          </a>
        </li>`,
      )}
    </ul>
    ${rows.length > SHOWN && html`<p class="faint small card-body">and ${number(rows.length - SHOWN)} more</p>`}
  <//>`;
}
