// below: what hangs below a memory in its tree.
import { html } from "htm/preact";
import { number } from "../../format.js";
import { useVerb } from "../../load.js";
import { MemoryRow } from "../../parts/memory.js";
import { Section } from "../../parts/page.js";
import { Loaded } from "../../parts/states.js";
import { href } from "../../router.js";

const SHOWN = 12;

export function Below({ memory, count }) {
  const branch = useVerb("explore", count ? { id: memory.id, depth: 1 } : null);
  if (!count) return null;
  const all = html`<a class="link small" href=${href("search", { under: memory.id })}>Search below it</a>`;
  return html`<${Section} title=${`Below it (${number(count)})`} actions=${all} flush>
    <${Loaded} from=${branch} lines="3">
      ${({ children }) => html`<ul class="list">
        ${children.slice(0, SHOWN).map(
          (child) => html`<li key=${child.memory.id}>
            <${MemoryRow} memory=${child.memory} note=${child.children_count ? `${number(child.children_count)} below` : undefined} />
          </li>`,
        )}
      </ul>`}
    <//>
  <//>`;
}
