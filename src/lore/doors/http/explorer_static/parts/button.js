// button: things to press.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { Icon } from "./icon.js";

/** A button. look: "main", "danger", "danger main", "quiet". label: its name where it has only an icon.
 * A click that returns a promise keeps it disabled until that is done. */
export function Button({ icon, look = "", small, label, onClick, children, class: more = "", ...rest }) {
  const [busy, setBusy] = useState(false);
  const classes = [
    "button",
    ...look.split(" ").filter(Boolean).map((one) => (one === "main" ? "main-action" : one)),
    small && "small",
    icon && !children && "icon-only",
    more,
  ];
  const click = async (event) => {
    const work = onClick?.(event);
    if (!work?.finally) return;
    setBusy(true);
    await work.finally(() => setBusy(false));
  };
  return html`<button
    type="button" class=${classes.filter(Boolean).join(" ")} aria-label=${label} title=${label}
    disabled=${busy || rest.disabled} ...${rest} onClick=${click}
  >${icon && html`<${Icon} name=${icon} size=${small ? 15 : 17} />`}${children}</button>`;
}

/** A link that looks like a button. */
export function ButtonLink({ icon, look = "", small, children, ...rest }) {
  const main = look === "main" ? "main-action" : look;
  return html`<a class=${`button ${main} ${small ? "small" : ""}`} ...${rest}>
    ${icon && html`<${Icon} name=${icon} size=${small ? 15 : 17} />`}${children}</a>`;
}

/** One of a few: options is a list of [value, text]. */
export function Segments({ label, options, value, onChange }) {
  return html`<div class="segments" role="group" aria-label=${label}>
    ${options.map(
      ([one, text]) =>
        html`<button type="button" key=${one} aria-pressed=${String(one === value)} onClick=${() => onChange(one)}>
          ${text}
        </button>`,
    )}
  </div>`;
}
