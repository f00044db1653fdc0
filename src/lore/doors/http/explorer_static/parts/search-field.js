// search-field: a field that narrows down what a page shows, while somebody types.
import { html } from "htm/preact";
import { useEffect, useState } from "preact/hooks";
import { Icon } from "./icon.js";

const WAIT_MILLISECONDS = 180;

/** [text, typed, setTyped]: what was typed, and as `text` once the typing rests. onRest(text): then. */
export function useTyped(start = "", onRest) {
  const [typed, setTyped] = useState(start);
  const [text, setText] = useState(start.trim());
  useEffect(() => {
    const next = typed.trim();
    if (next === text) return undefined;
    const timer = setTimeout(() => (setText(next), onRest?.(next)), next ? WAIT_MILLISECONDS : 0);
    return () => clearTimeout(timer);
  }, [typed]);
  return [text, typed, setTyped];
}

export function SearchField({ label, value, onInput, inputRef, onKeyDown }) {
  return html`<div class="search-field" role="search">
    <${Icon} name="search" size="16" />
    <input
      type="search" class="input" aria-label=${label} placeholder=${label} value=${value} ref=${inputRef}
      autocomplete="off" spellcheck="false" onInput=${(event) => onInput(event.currentTarget.value)} onKeyDown=${onKeyDown}
    />
  </div>`;
}
