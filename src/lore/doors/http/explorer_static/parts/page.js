// page: the frame of a view: its heading, its actions, its sections.
import { html } from "htm/preact";
import { useEffect, useId } from "preact/hooks";

/** A view. heading: if it differs from the title of the window. width: "" for a readable column, "wide" for the whole width, "full" without any margin. */
export function Page({ title, heading = title, about, actions, width = "", bare = false, children }) {
  useEffect(() => {
    document.title = title ? `${title} · Lore` : "Lore";
  }, [title]);
  return html`<div class=${`page ${width}`}>
    ${!bare &&
    html`<header class="page-head">
      <div>
        <h1 tabindex="-1">${heading}</h1>
        ${about && html`<p>${about}</p>`}
      </div>
      ${actions && html`<div class="row wrap">${actions}</div>`}
    </header>`}
    ${children}
  </div>`;
}

/** A titled box. flush: its content reaches the edges. */
export function Section({ title, actions, flush, children, class: more = "" }) {
  const id = useId();
  return html`<section class=${`card ${more}`} aria-labelledby=${id}>
    <div class="card-head"><h2 id=${id}>${title}</h2>${actions}</div>
    ${flush ? html`<div class="flush">${children}</div>` : html`<div class="card-body">${children}</div>`}
  </section>`;
}

/** Views inside a view: options is a list of [value, text, count?]. */
export function Tabs({ label, options, value, onChange }) {
  const move = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = options.findIndex(([one]) => one === value) + step;
    const [next] = options[(at + options.length) % options.length];
    onChange(next);
    event.currentTarget.children[(at + options.length) % options.length].focus();
  };
  return html`<div class="tabs" role="tablist" aria-label=${label} onKeyDown=${move}>
    ${options.map(
      ([one, text, count]) => html`<button
        type="button" role="tab" key=${one} aria-selected=${String(one === value)} tabindex=${one === value ? 0 : -1}
        onClick=${() => onChange(one)}
      >${text}${count != null && html`<span class="count">${count}</span>`}</button>`,
    )}
  </div>`;
}
