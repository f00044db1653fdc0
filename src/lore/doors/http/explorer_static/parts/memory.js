// memory: one memory in a list.
import { html } from "htm/preact";
import { labelOf, oneLine } from "../format.js";
import { href } from "../router.js";
import { kindIcon } from "../words.js";
import { Icon } from "./icon.js";
import { Marked } from "./text.js";
import { Time } from "./time.js";

/** A memory as a line that leads to its page. note: at the right end, instead of its age. */
export function MemoryRow({ memory, note, words, text = true }) {
  const label = labelOf(memory);
  const more = memory.title ? oneLine(memory.content, 220) : "";
  return html`<a class="memory-row" href=${href("memory", memory.id)}>
    <${Icon} name=${kindIcon(memory.kind)} size="16" />
    <span class="grow">
      <strong><${Marked} text=${label} words=${words} /></strong>
      ${text && more && more !== label && html`<p><${Marked} text=${more} words=${words} /></p>`}
    </span>
    <span class="side-note">${note ?? html`<${Time} at=${memory.created_at} />`}</span>
  </a>`;
}

/** Memories as a list. */
export function MemoryList({ memories, ...rest }) {
  return html`<ul class="list">
    ${memories.map((memory) => html`<li key=${memory.id}><${MemoryRow} memory=${memory} ...${rest} /></li>`)}
  </ul>`;
}

/** The way from the root of its tree down to a memory: list of labels, or of [id, label]. */
export function Crumbs({ steps }) {
  return html`<nav class="crumbs" aria-label="Place in its tree">
    ${steps.map((step, at) => {
      const [id, label] = Array.isArray(step) ? step : ["", step];
      return html`${at > 0 && html`<${Icon} name="right" size="12" />`}
      ${id ? html`<a class="cut" href=${href("memory", id)}>${label}</a>` : html`<span class="cut">${label}</span>`}`;
    })}
  </nav>`;
}
