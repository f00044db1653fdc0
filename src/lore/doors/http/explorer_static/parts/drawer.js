// drawer: a window at the right edge, to look at one thing without leaving the page.
import { html } from "htm/preact";
import { Dialog } from "./dialog.js";

export function Drawer({ title, onClose, children }) {
  return html`<${Dialog} title=${title} onClose=${onClose} class="drawer">${children}<//>`;
}
