// help: the shortcuts that work now.
import { html } from "htm/preact";
import { useMemo } from "preact/hooks";
import { activeKeys, chooseSingleKeys, singleKeys } from "./keys.js";
import { Dialog } from "./parts/dialog.js";
import { Check } from "./parts/field.js";
import { useSignal } from "./signal.js";

const NAMES = { mod: "Ctrl", ArrowDown: "↓", ArrowUp: "↑", ArrowRight: "→", ArrowLeft: "←", Escape: "Esc", " ": "Space" };

/** "mod+k" as keys to press. */
export function Keys({ keys }) {
  const [first] = keys.split(", ");
  const names = first.split(/[ +](?=.)/).map((one) => NAMES[one] ?? (one.length === 1 ? one.toUpperCase() : one));
  return html`<span class="row">${names.map((one, at) => html`<kbd key=${at}>${one}</kbd>`)}</span>`;
}

export function Help({ onClose }) {
  const listed = useMemo(() => activeKeys().filter((one) => one.label), []);
  const groups = [...new Set(listed.map((one) => one.group ?? "On this page"))];
  const on = useSignal(singleKeys);
  return html`<${Dialog} title="Keyboard shortcuts" onClose=${onClose} class="dialog broad">
    <div class="keys">
      ${groups.map(
        (group) => html`<section key=${group}>
          <h3>${group}</h3>
          <ul>
            ${listed
              .filter((one) => (one.group ?? "On this page") === group)
              .map((one) => html`<li key=${one.keys}><span>${one.label}</span><${Keys} keys=${one.keys} /></li>`)}
          </ul>
        </section>`,
      )}
    </div>
    <${Check} label="Shortcuts of a single key" checked=${on} onChange=${chooseSingleKeys} />
  <//>`;
}
