// picker: a button that opens a list below it: of choices, or of actions.
import { html } from "htm/preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "./icon.js";

function usePopup() {
  const [open, setOpen] = useState(false);
  const box = useRef(null);
  useEffect(() => {
    if (!open) return undefined;
    const outside = (event) => box.current?.contains(event.target) || setOpen(false);
    addEventListener("pointerdown", outside);
    return () => removeEventListener("pointerdown", outside);
  }, [open]);
  const items = () => [...(box.current?.querySelectorAll(".picker-list :is(input, button, a)") ?? [])];
  const onKeyDown = (event) => {
    if (event.key === "Escape" && open) {
      setOpen(false);
      box.current.querySelector("button").focus();
    } else if (["ArrowDown", "ArrowUp"].includes(event.key) && open) {
      const all = items();
      const at = all.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
      all[(at + all.length) % all.length]?.focus();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  useEffect(() => {
    if (open) items()[0]?.focus();
  }, [open]);
  return { open, setOpen, box, onKeyDown };
}

/** A filter. options: list of [value, text, count?]. value: list of the chosen ones; single: at most one. */
export function Picker({ label, icon, options, value, onChange, single, noneText = "Any" }) {
  const { open, setOpen, box, onKeyDown } = usePopup();
  const chosen = options.filter(([one]) => value.includes(one)).map(([, text]) => text);
  const missing = value.filter((one) => !options.some(([option]) => option === one));
  const names = [...chosen, ...missing];
  const text = names.length > 1 ? `${label}: ${names.length}` : names.length ? names[0] : label;
  const toggle = (one) => {
    if (single) return onChange(value.includes(one) ? [] : [one]), setOpen(false);
    return onChange(value.includes(one) ? value.filter((other) => other !== one) : [...value, one]);
  };
  return html`<div class="picker" ref=${box} onKeyDown=${onKeyDown}>
    <button
      type="button" class="button small" aria-expanded=${String(open)} aria-pressed=${String(names.length > 0)}
      aria-label=${labelOf(label, names, noneText)}
      onClick=${() => setOpen(!open)}
    >
      ${icon && html`<${Icon} name=${icon} size="15" />`}<span class="cut">${text}</span>
      <${Icon} name="below" size="13" />
    </button>
    ${open &&
    html`<div class="picker-list" role="group" aria-label=${label}>
      ${options.length === 0 && html`<p class="soft small picker-empty">Nothing to choose from.</p>`}
      ${options.map(
        ([one, name, count]) => html`<label key=${one}>
          <input
            type=${single ? "radio" : "checkbox"} checked=${value.includes(one)}
            onClick=${single ? () => toggle(one) : undefined} onChange=${single ? undefined : () => toggle(one)}
          />
          <span class="cut">${name}</span>${count != null && html`<span class="count">${count}</span>`}
        </label>`,
      )}
      ${value.length > 0 &&
      html`<hr /><button type="button" onClick=${() => (onChange([]), setOpen(false))}>Clear</button>`}
    </div>`}
  </div>`;
}

/** What a screen reader says; it begins with the visible text. */
function labelOf(label, names, noneText) {
  if (!names.length) return `${label}: ${noneText}`;
  return names.length > 1 ? `${label}: ${names.length} (${names.join(", ")})` : `${label}: ${names[0]}`;
}

/** A menu of actions: list of {text, icon, run, danger}, or null for a line between them. */
export function Menu({ label, icon = "dots", actions, small }) {
  const { open, setOpen, box, onKeyDown } = usePopup();
  const run = (action) => (setOpen(false), action.run());
  return html`<div class="picker" ref=${box} onKeyDown=${onKeyDown}>
    <button
      type="button" class=${`button icon-only ${small ? "small" : ""}`} aria-expanded=${String(open)}
      aria-label=${label} title=${label} onClick=${() => setOpen(!open)}
    ><${Icon} name=${icon} /></button>
    ${open &&
    html`<div class="picker-list to-right" role="group" aria-label=${label}>
      ${actions.map((action) =>
        action === null
          ? html`<hr />`
          : html`<button type="button" key=${action.text} class=${action.danger ? "danger" : ""} onClick=${() => run(action)}>
              <${Icon} name=${action.icon} size="16" />${action.text}
            </button>`,
      )}
    </div>`}
  </div>`;
}
