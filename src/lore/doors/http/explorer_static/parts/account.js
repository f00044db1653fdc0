// account: what a conversation was about, what came of it and what is open.
import { html } from "htm/preact";

/** The parts of an account: [heading, text] for each line. */
function partsOf(account) {
  return account.content.split("\n").map((line) => {
    const at = line.indexOf(": ");
    return at > 0 ? [line.slice(0, at), line.slice(at + 2)] : ["", line];
  });
}

/** All of an account, part by part. */
export function Account({ account }) {
  return html`<dl class="account">
    ${partsOf(account).map(([heading, text]) => html`<dt>${heading}</dt><dd>${text}</dd>`)}
  </dl>`;
}

/** How a conversation ended: its last report, and what is open. */
export function gistOf(account) {
  const first = (name) => account?.metadata[name]?.[0]?.text;
  const open = first("left");
  return [first("done"), open && `Open: ${open}`].filter(Boolean).join(" — ");
}
