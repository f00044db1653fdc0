// links: what a memory is tied to, in sentences.
import { html } from "htm/preact";
import { may } from "../../api.js";
import { change } from "../../changes.js";
import { labelOf, oneLine } from "../../format.js";
import { useVerb } from "../../load.js";
import { Button } from "../../parts/button.js";
import { Icon } from "../../parts/icon.js";
import { Section } from "../../parts/page.js";
import { href } from "../../router.js";
import { kindIcon, LINKS, plain } from "../../words.js";

const DERIVED = "derived_from";
const TREE = "hierarchical";
const MOST = 60;

export function Links({ reading, onAdd, reload }) {
  const { memory } = reading;
  const links = reading.links
    .filter((link) => link.kind !== TREE && !(link.type === DERIVED && link.source === memory.id))
    .slice(0, MOST);
  const ends = [...new Set(links.map((link) => (link.source === memory.id ? link.target : link.source)))];
  const { value = [] } = useVerb("read_many", ends.length ? { ids: ends } : null);
  const byId = new Map(value.map((one) => [one.memory.id, one.memory]));
  if (!links.length && (memory.forgotten_at != null || !may("write"))) return null;
  const add = may("write") && memory.forgotten_at == null && html`<${Button} small icon="plus" look="quiet" onClick=${onAdd}>Link<//>`;
  return html`<${Section} title="Linked to" actions=${add} flush>
    ${links.length === 0 && html`<p class="card-body soft">Nothing yet. Links let a deep search walk from one memory to the next.</p>`}
    <ul class="list">
      ${links.map((link) => {
        const other = byId.get(link.source === memory.id ? link.target : link.source);
        return other && html`<${Linked} key=${link.id} link=${link} own=${memory.id} other=${other} reload=${reload} />`;
      })}
    </ul>
  <//>`;
}

/** How this memory stands to the other end. */
function wordsOf(link, own) {
  if (link.type === DERIVED) return "Learnt from it";
  if (link.kind === "relation" && link.type) return link.source === own ? plain(link.type) : `${plain(link.type)} (from there)`;
  return LINKS[link.kind]?.[link.source === own ? 0 : 1] ?? plain(link.kind);
}

function Linked({ link, own, other, reload }) {
  const end = async () => {
    const { error } = await change("unlink", { ids: [link.id] }, { done: "Link ended.", id: link.id });
    if (!error) reload();
  };
  return html`<li class="memory-row">
    <${Icon} name=${kindIcon(other.kind)} size="16" />
    <span class="grow">
      <span class="faint small">${wordsOf(link, own)}</span><br />
      <a href=${href("memory", other.id)}><strong>${labelOf(other)}</strong></a>
      ${link.reason && html`<p>${oneLine(link.reason, 200)}</p>`}
    </span>
    ${may("write") && html`<${Button} small icon="close" look="quiet" label=${`End the link to ${labelOf(other, 40)}`} onClick=${end} />`}
  </li>`;
}
