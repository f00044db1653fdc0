// text: what a memory says, in full.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { count } from "../../format.js";
import { useVerb } from "../../load.js";
import { Button } from "../../parts/button.js";

const FULL_LENGTH = "full_length";

export function Text({ memory }) {
  const [whole, setWhole] = useState(false);
  const length = memory.metadata?.[FULL_LENGTH];
  const { value } = useVerb("full_texts", whole ? { ids: [memory.id] } : null);
  return html`<article class="card memory-text">
    ${memory.summary && memory.summary !== memory.content && html`<p class="memory-summary prose">${memory.summary}</p>`}
    <p class="prose">${value?.[memory.id] ?? memory.content}</p>
    ${length && !value && html`<${Button} small onClick=${() => setWhole(true)}>Show all ${count(length, "character")}<//>`}
  </article>`;
}
