// list: all people and things, those that fit a question, and those that need care.
import { html } from "htm/preact";
import { useMemo, useState } from "preact/hooks";
import { call } from "../../api.js";
import { count, number, oneLine } from "../../format.js";
import { useLoad, useVerb } from "../../load.js";
import { Button } from "../../parts/button.js";
import { Chip } from "../../parts/chip.js";
import { Icon } from "../../parts/icon.js";
import { Page, Tabs } from "../../parts/page.js";
import { SearchField, useTyped } from "../../parts/search-field.js";
import { Empty, Loaded } from "../../parts/states.js";
import { Marked, wordsOf } from "../../parts/text.js";
import { Time } from "../../parts/time.js";
import { href, setParams } from "../../router.js";
import { plain } from "../../words.js";
import { Care, STALE_DAYS, troubles } from "./care.js";

const STEP = 60;
const MOST_FOUND = 30;
const IMPLIED = "implied";

export function List({ params }) {
  const [text, typed, setTyped] = useTyped(params.q ?? "", (q) => setParams({ q, show: "" }));
  const [limit, setLimit] = useState(STEP);
  const report = useVerb("graph_report", { stale_days: STALE_DAYS });
  const tab = params.show === "care" && !text ? "care" : "";
  const tabs = [["", "All", report.value && number(report.value.entities)], ["care", "Need care", report.value && number(troubles(report.value))]];
  const listed = useLoad((aborts) => (text ? found(text, aborts) : most(limit, aborts)), JSON.stringify([text, limit]));
  const words = useMemo(() => wordsOf(text), [text]);
  return html`<${Page} title="Entities" about="What is known about each person, place, service or thing, and how they hang together.">
    <${SearchField} label="Search entities" value=${typed} onInput=${setTyped} />
    ${!text && html`<${Tabs} label="Which" options=${tabs} value=${tab} onChange=${(show) => setParams({ show })} />`}
    ${tab === "care"
      ? html`<${Loaded} from=${report} lines="6">${(value) => html`<${Care} report=${value} />`}<//>`
      : html`<${Loaded} from=${listed} lines="8" empty=${html`<${Nothing} text=${text} />`}>
          ${(rows) => html`<ul class="card list">${rows.map((row) => html`<li key=${row.entity.id}><${Row} row=${row} words=${words} /></li>`)}</ul>
            ${!text && rows.length >= limit && html`<div><${Button} onClick=${() => setLimit(limit + STEP)}>Show more<//></div>`}`}
        <//>`}
  <//>`;
}

function Row({ row: { entity, observations, said }, words }) {
  return html`<a class="memory-row" href=${href("entities", entity.id)}>
    <${Icon} name="entity" size="16" />
    <span class="grow">
      <span class="row wrap"><strong><${Marked} text=${entity.title} words=${words} /></strong>${typeChip(entity)}</span>
      <p><${Marked} text=${said || "Nothing is known yet."} words=${words} /></p>
    </span>
    <span class="side-note entity-note"><span>${count(observations, "observation")}</span><${Time} at=${entity.updated_at} /></span>
  </a>`;
}

/** The type of an entity, where it says anything. */
export function typeChip(entity) {
  return entity.type && entity.type.toLowerCase() !== "generic" && html`<${Chip}>${plain(entity.type)}<//>`;
}

function Nothing({ text }) {
  if (text) return html`<${Empty} icon="search" title=${`Nobody and nothing fits “${text}”`}><p><a href=${href("search", { q: text })}>Search all memories</a></p><//>`;
  return html`<${Empty} icon="entity" title="Nobody and nothing yet">
    <p>Agents add people and things as they learn about them.</p>
  <//>`;
}

/** The most present entities. */
async function most(limit, signal) {
  const { value, error } = await call("roots", { limit, where: { kinds: ["entity"] } }, { signal });
  if (error) return { error };
  const shown = value.filter(({ memory }) => !memory.flags.includes(IMPLIED));
  return { value: shown.map(({ memory, children_count }) => ({ entity: memory, observations: children_count, said: oneLine(memory.context.replaceAll(" | ", " · "), 220) })) };
}

/** Entities that have the text, and then those that fit by meaning. */
async function found(text, signal) {
  const answers = await Promise.all([call("nodes", { text }, { signal }), call("search_entities", { text, limit: MOST_FOUND }, { signal })]);
  const failed = answers.find((answer) => answer.error);
  if (failed) return failed;
  const [{ value: nodes }, { value: hits }] = answers;
  const wanted = text.toLowerCase();
  const inName = (view) => view.name.toLowerCase().includes(wanted);
  const literal = nodes.views.filter((view) => view.entity.kind === "entity").sort((one, other) => inName(other) - inName(one));
  const views = new Map([...literal, ...hits.map((hit) => hit.view)].map((view) => [view.entity.id, view]));
  return { value: [...views.values()].map((view) => ({ entity: view.entity, observations: view.observations.length, said: fitting(view, wanted) })) };
}

/** The observations of an entity, those with the text first. */
function fitting(view, wanted) {
  const has = (memory) => memory.content.toLowerCase().includes(wanted);
  const sorted = [...view.observations].sort((one, other) => has(other) - has(one));
  return oneLine(sorted.slice(0, 6).map((memory) => memory.content).join(" · "), 220);
}
