// glance: one memory beside a page, with its neighbours to walk on.
import { html } from "htm/preact";
import { useEffect, useRef } from "preact/hooks";
import { call } from "../api.js";
import { labelOf, number, percent } from "../format.js";
import { useLoad } from "../load.js";
import { href } from "../router.js";
import { kindIcon, LINKS, plain } from "../words.js";
import { ButtonLink } from "./button.js";
import { StateChips, TypeChip } from "./chip.js";
import { Icon } from "./icon.js";
import { Bar } from "./score.js";
import { Loaded } from "./states.js";
import { Time } from "./time.js";

const MOST_NEIGHBOURS = 300;
const SHOWN = 12;
const TREE = "hierarchical";

/** A memory, how present it is, and what it is connected with. onWalk(id): a neighbour was chosen; without it,
 * neighbours are links to their pages. more(reading): further actions. */
export function Glance({ id, onWalk, more }) {
  const box = useRef(null);
  const walked = useRef(false);
  const from = useLoad((aborts) => glance(id, aborts), id, { live: (ids) => ids.includes(id) });
  const shown = from.value?.reading.memory.id;
  useEffect(() => {
    if (walked.current) box.current.querySelector("h2")?.focus();
    walked.current = false;
  }, [shown]);
  const walk = onWalk && ((next) => ((walked.current = true), onWalk(next)));
  return html`<div class="glance" ref=${box}>
    <${Loaded} from=${from} lines="6">
      ${({ reading, groups }) => html`<${Seen} reading=${reading} more=${more} />
        ${groups.map((group) => html`<${Neighbours} key=${`${id} ${group.name}`} group=${group} onWalk=${walk} />`)}
        ${groups.length === 0 && html`<p class="faint small">It has no links to other memories.</p>`}`}
    <//>
  </div>`;
}

function Seen({ reading, more }) {
  const { memory, relevance } = reading;
  return html`<div class="row wrap"><${TypeChip} memory=${memory} /><${StateChips} memory=${memory} /></div>
    <h2 class="glance-title" tabindex="-1">${labelOf(memory, 140)}</h2>
    ${memory.title && memory.content !== memory.title && html`<p class="prose soft glance-text">${memory.content}</p>`}
    <div class="meta">
      <span class="glance-relevance" title="Important, used or new memories are present; others fade">
        <span class="bar-line"><${Bar} share=${relevance} /></span>${percent(relevance)} present
      </span>
      <${Time} at=${memory.created_at} />
      ${memory.project && html`<span class="cut"><${Icon} name="folder" size="13" />${memory.project}</span>`}
    </div>
    <div class="row wrap">
      <${ButtonLink} small icon="note" href=${href("memory", memory.id)}>Open<//>
      ${more?.(reading)}
    </div>`;
}

function Neighbours({ group: { name, members, total }, onWalk }) {
  const row = (memory) => html`<${Icon} name=${kindIcon(memory.kind)} size="14" /><span class="cut">${labelOf(memory)}</span>`;
  const list = (some) => html`<ul class="walk">
    ${some.map(
      (memory) => html`<li key=${memory.id}>
        ${onWalk
          ? html`<button type="button" onClick=${() => onWalk(memory.id)}>${row(memory)}</button>`
          : html`<a href=${href("memory", memory.id)}>${row(memory)}</a>`}
      </li>`,
    )}
  </ul>`;
  return html`<section class="glance-group">
    <h3>${name} <span class="faint">${number(total)}</span></h3>
    ${list(members.slice(0, SHOWN))}
    ${members.length > SHOWN &&
    html`<details><summary>${number(members.length - SHOWN)} more</summary>${list(members.slice(SHOWN))}</details>`}
  </section>`;
}

/** {value: {reading, groups}} of a memory; looking does not count as use. */
async function glance(id, aborts) {
  const read = await call("read", { id, use: false }, { signal: aborts });
  if (read.error) return read;
  const reading = read.value;
  const named = namesOf(reading);
  const ids = [...named.keys()].slice(0, MOST_NEIGHBOURS);
  const where = { ids, superseded: true };
  const found = ids.length ? await call("select", { where, limit: ids.length }, { signal: aborts }) : { value: [] };
  if (found.error) return found;
  return { value: { reading, groups: grouped(named, found.value) } };
}

/** Id of a neighbour -> what it is to this memory. */
function namesOf({ memory, parent, children, links }) {
  const named = new Map();
  if (parent) named.set(parent, "Above");
  for (const id of children) named.set(id, "Below");
  for (const link of links) {
    const outward = link.source === memory.id;
    const other = outward ? link.target : link.source;
    if (link.kind === TREE || named.has(other)) continue;
    const [there, back] = link.kind === "relation" ? relationNames(link.type) : LINKS[link.kind] ?? [plain(link.kind), plain(link.kind)];
    named.set(other, outward ? there : back);
  }
  return named;
}

function relationNames(type) {
  return [plain(type || "points to"), `${plain(type || "points to")} (from)`];
}

function grouped(named, memories) {
  const groups = new Map();
  for (const name of named.values()) groups.set(name, { name, members: [], total: (groups.get(name)?.total ?? 0) + 1 });
  for (const memory of memories) groups.get(named.get(memory.id)).members.push(memory);
  return [...groups.values()].filter((group) => group.members.length);
}
