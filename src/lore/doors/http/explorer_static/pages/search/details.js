// details: why a result was found, and what hangs below it.
import { html } from "htm/preact";
import { labelOf } from "../../format.js";
import { useVerb } from "../../load.js";
import { Icon } from "../../parts/icon.js";
import { Reasons } from "../../parts/score.js";
import { Marked } from "../../parts/text.js";
import { href, setParams } from "../../router.js";

const SHOWN_CHILDREN = 6;

/** brief: only the reasons. */
export function Details({ hit, words, below = 0, brief }) {
  const { memory } = hit;
  return html`<div class="stack">
    ${!brief &&
    html`<section>
      <h2>${labelOf(memory, 80)}</h2>
      <p class="details-text prose"><${Marked} text=${memory.content.slice(0, 900)} words=${words} />${memory.content.length > 900 ? "…" : ""}</p>
    </section>`}
    ${hit.score != null &&
    html`<section>
      <h3>Why this was found</h3>
      ${hit.via && html`<p class="small soft">Reached over “${hit.via}”.</p>`}
      <${Reasons} hit=${hit} />
    </section>`}
    ${hit.successor && html`<p class="notice warn"><${Icon} name="replace" /><span>A newer memory ${hit.successor.replaces ? "replaces" : "updates"} it: <a href=${href("memory", hit.successor.id)}>${hit.successor.label}</a></span></p>`}
    ${!brief && below > 0 && html`<${Children} id=${memory.id} />`}
  </div>`;
}

function Children({ id }) {
  const { value } = useVerb("explore", { id, depth: 1 });
  const children = value?.children ?? [];
  if (!children.length) return null;
  return html`<section>
    <h3>Below it</h3>
    <ul class="children">
      ${children.slice(0, SHOWN_CHILDREN).map(
        ({ memory }) => html`<li key=${memory.id}><a href=${href("memory", memory.id)}><${Icon} name="right" size="13" /><span class="cut">${labelOf(memory, 70)}</span></a></li>`,
      )}
    </ul>
    ${children.length > SHOWN_CHILDREN &&
    html`<button type="button" class="link-button" onClick=${() => setParams({ under: id }, {})}>All ${children.length}</button>`}
  </section>`;
}
