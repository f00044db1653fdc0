// activity: what happened lately, by whom; changes made together are one line.
import { html } from "htm/preact";
import { count } from "../../format.js";
import { useVerb } from "../../load.js";
import { Icon } from "../../parts/icon.js";
import { Section } from "../../parts/page.js";
import { Empty, Loaded } from "../../parts/states.js";
import { Time } from "../../parts/time.js";
import { href } from "../../router.js";
import { changeName } from "../../words.js";

const READ = 60;
const SHOWN = 8;
const ICONS = {
  remember: "plus", remember_all: "plus", introduce: "plus", observe: "plus", revise: "edit", forget: "trash", forget_where: "trash", restore: "undo",
  undo: "undo", supersede: "replace", link: "link", relate: "link", unlink: "link", consolidate: "sleep", ingest: "chat", import: "download", rate: "up",
};

export function Activity() {
  const journal = useVerb("activity", { limit: READ });
  return html`<${Section} title="What happened" flush>
    <${Loaded} from=${journal} lines="5">
      ${({ entries, labels }) => {
        const groups = grouped(entries).slice(0, SHOWN);
        if (!groups.length) return html`<${Empty} icon="clock" title="Nothing yet" />`;
        return html`<ol class="happened">${groups.map((group) => html`<${Group} key=${group.batch} group=${group} labels=${labels} />`)}</ol>`;
      }}
    <//>
  <//>`;
}

/** Entries of one transaction together: {batch, at, cause, ids}. ids: of memories, then of links. */
export function grouped(entries) {
  const groups = new Map();
  for (const { batch, at, cause, noun, id } of entries) {
    const group = groups.get(batch) ?? { batch, at, cause, memories: new Set(), links: new Set() };
    group[noun === "memory" ? "memories" : "links"].add(id);
    groups.set(batch, group);
  }
  return [...groups.values()];
}

export function Group({ group, labels }) {
  const { cause, at } = group;
  const memories = [...group.memories].filter((id) => labels[id]);
  const [first] = memories;
  const link = [...group.links].map((id) => labels[id]).find(Boolean);
  const others = memories.length - 1;
  return html`<li>
    <span class="happened-icon"><${Icon} name=${ICONS[cause.verb] ?? "spark"} size="14" /></span>
    <span class="grow">
      <span class="soft">${changeName(cause.verb)}${cause.actor && ` by ${cause.actor}`}: </span>
      ${first ? html`<a href=${href("memory", first)}>${labels[first]}</a>` : html`<span>${link ?? count(group.links.size || group.memories.size, "change")}</span>`}
      ${others > 0 && html`<span class="faint"> and ${count(others, "other")}</span>`}
    </span>
    <span class="faint small"><${Time} at=${at} /></span>
  </li>`;
}
