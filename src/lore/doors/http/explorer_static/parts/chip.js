// chip: a small label: a type, a state, a filter that can be taken away.
import { html } from "htm/preact";
import { sortName, trustName } from "../words.js";
import { Icon } from "./icon.js";

/** tone: "", "accent", "good", "warn", "bad". onRemove: shows a cross. */
export function Chip({ children, icon, tone = "", onRemove, removeLabel, title }) {
  return html`<span class=${`chip ${tone}`} title=${title}>
    ${icon && html`<${Icon} name=${icon} size="13" />`}<span>${children}</span>
    ${onRemove &&
    html`<button type="button" aria-label=${removeLabel} onClick=${onRemove}><${Icon} name="close" size="12" /></button>`}
  </span>`;
}

/** The type of a memory, or its kind if it has no type. */
export function TypeChip({ memory }) {
  return html`<${Chip}>${sortName(memory)}<//>`;
}

/** Replaced, forgotten, doubtful: what a reader must know before the text. Nothing for an ordinary memory. */
export function StateChips({ memory }) {
  return html`${memory.forgotten_at != null && html`<${Chip} tone="bad" icon="trash">Forgotten<//>`}
  ${memory.superseded_by && html`<${Chip} tone="warn" icon="replace">Replaced<//>`}
  ${memory.trust < 0.5 && html`<${Chip} tone="warn" icon="shield">${trustName(memory.trust)}<//>`}`;
}
