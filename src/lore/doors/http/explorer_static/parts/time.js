// time: a moment as "3 days ago", with the exact one on demand.
import { html } from "htm/preact";
import { ago, dayOf, momentOf } from "../format.js";

export function Time({ at, exact = false }) {
  if (at == null) return html`<span>never</span>`;
  const date = new Date(at * 1000);
  const iso = Number.isFinite(date.getTime()) ? date.toISOString() : undefined;
  return html`<time datetime=${iso} title=${momentOf(at)}>${exact ? dayOf(at) : ago(at)}</time>`;
}
