// table: rows of values. It scrolls sideways where it does not fit.
import { html } from "htm/preact";

/** columns: list of {title, cell(row), number}. rows: list of values with an id. caption: for screen readers. */
export function Table({ caption, columns, rows, keyOf = (row) => row.id }) {
  return html`<div class="table-wrap" tabindex="0" role="region" aria-label=${caption}>
    <table class="table">
      <caption class="hidden-text">${caption}</caption>
      <thead>
        <tr>
          ${columns.map(({ title, number }) => html`<th key=${title} scope="col" class=${number ? "number" : ""}>${title}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) => html`<tr key=${keyOf(row)}>
            ${columns.map(({ title, cell, number }) => html`<td key=${title} class=${number ? "number" : ""}>${cell(row)}</td>`)}
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
