// namespaces: the rooms in which memories are kept apart.
import { html } from "htm/preact";
import { count } from "../../format.js";
import { useGet } from "../../load.js";
import { Chip } from "../../parts/chip.js";
import { Icon } from "../../parts/icon.js";
import { Section } from "../../parts/page.js";
import { Loaded } from "../../parts/states.js";

export function Namespaces() {
  const load = useGet("namespaces");
  return html`<${Section} title="Namespaces" flush>
    <p class="soft settings-about">Memories of a namespace are seen only by those who may use it. What is in “shared” is seen by all.</p>
    <${Loaded} from=${load} lines="4">
      ${({ namespaces, current }) => html`<ul class="list">
        ${namespaces.map(
          ({ name, memories }) => html`<li key=${name}><div class="memory-row">
            <${Icon} name="box" size="16" />
            <div class="row wrap"><strong>${name}</strong>${name === current && html`<${Chip} tone="accent">These pages show it<//>`}</div>
            <span class="side-note">${count(memories, "memory", "memories")}</span>
          </div></li>`,
        )}
      </ul>`}
    <//>
  <//>`;
}
