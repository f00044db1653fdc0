// states: nothing there, still coming, gone wrong.
import { html } from "htm/preact";
import { Button } from "./button.js";
import { Icon } from "./icon.js";

/** Nothing to show, and what to do about it. */
export function Empty({ icon = "spark", title, children }) {
  return html`<div class="state">
    <${Icon} name=${icon} size="28" />
    <h3>${title}</h3>
    ${children}
  </div>`;
}

/** Grey lines where text will be. */
export function Loading({ lines = 4, label = "Loading" }) {
  return html`<div class="bones" role="status" aria-label=${label}>
    ${Array.from({ length: lines }, (_, at) => html`<div class="bone" key=${at}></div>`)}
  </div>`;
}

export function Failed({ error, retry }) {
  return html`<div class="state failed" role="alert">
    <${Icon} name="warning" size="28" />
    <h3>${error.kind === "NotFound" ? "Not found" : "This did not work"}</h3>
    <p>${error.message}</p>
    ${retry && html`<div class="row"><${Button} icon="refresh" onClick=${retry}>Try again<//></div>`}
  </div>`;
}

/** The three states of `useLoad`: children is a function of the value. empty: shown where the value is empty. */
export function Loaded({ from, lines, empty, children }) {
  if (from.error && from.value === undefined) return html`<${Failed} error=${from.error} retry=${from.reload} />`;
  if (from.value === undefined) return html`<${Loading} lines=${lines} />`;
  if (empty && Array.isArray(from.value) && !from.value.length) return empty;
  return children(from.value);
}

/** A message on the page. tone: "", "warn", "bad". */
export function Notice({ icon = "info", tone = "", children }) {
  return html`<div class=${`notice ${tone}`}><${Icon} name=${icon} /><div class="grow">${children}</div></div>`;
}
