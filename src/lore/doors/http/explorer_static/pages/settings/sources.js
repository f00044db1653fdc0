// sources: the clients whose conversations Lore can read.
import { html } from "htm/preact";
import { count, number } from "../../format.js";
import { useGet } from "../../load.js";
import { Chip } from "../../parts/chip.js";
import { Icon } from "../../parts/icon.js";
import { Section } from "../../parts/page.js";
import { Loaded, Notice } from "../../parts/states.js";
import { href } from "../../router.js";
import { clientName } from "../../words.js";

export function Sources() {
  const load = useGet("sources");
  const change = html`<a class="link small" href=${href("settings", { q: "ingestion" })}>Choose which are read</a>`;
  return html`<${Section} title="Sources" actions=${change} flush>
    <${Loaded} from=${load} lines="6">
      ${({ paused, sources }) => html`
        ${paused && html`<div class="padded-more"><${Notice} tone="warn" icon="warning">Reading is paused: new conversations stay unread until “Pause reading” is off.<//></div>`}
        <ul class="list">${[...sources].sort((one, other) => other.found - one.found).map((one) => html`<li key=${one.name}><${Source} source=${one} /></li>`)}</ul>`}
    <//>
  <//>`;
}

function Source({ source }) {
  const { name, folder, found, chosen, files, files_read: read, problems } = source;
  return html`<div class="memory-row">
    <${Icon} name="chat" size="16" />
    <div class="grow stack tight">
      <div class="row wrap"><strong>${clientName(name)}</strong>
        ${!chosen ? html`<${Chip}>Not read<//>` : found ? html`<${Chip} tone="good">Read<//>` : html`<${Chip}>Not on this machine<//>`}
      </div>
      <span class="meta"><code class="prose">${folder}</code></span>
      ${Object.entries(problems).map(([path, why]) => html`<p key=${path} class="problem">${path}: ${why}</p>`)}
    </div>
    <span class="side-note">${found ? `${number(read)} of ${count(files, "transcript")} read` : ""}</span>
  </div>`;
}
