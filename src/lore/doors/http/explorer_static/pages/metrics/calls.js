// calls: every verb and tool with its number of calls and its times, as a table.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { number } from "../../format.js";
import { Segments } from "../../parts/button.js";
import { Section } from "../../parts/page.js";
import { Table } from "../../parts/table.js";
import { durationOf, kindOf } from "./words.js";

const SHOWN = [["", "All"], ["tool", "Tools"], ["verb", "Verbs"]];
const COLUMNS = [
  { title: "Name", cell: (row) => html`<code>${row.name}</code>` },
  { title: "Kind", cell: (row) => html`<span class="soft" title=${kindOf(row.kind)[1]}>${kindOf(row.kind)[0]}</span>` },
  { title: "Calls", number: true, cell: (row) => number(row.calls) },
  { title: "Failed", number: true, cell: (row) => (row.errors ? html`<span class="metrics-failed">${number(row.errors)}</span>` : "0") },
  { title: "Half within", number: true, cell: (row) => durationOf(row.p50_ms) },
  { title: "95 of 100", number: true, cell: (row) => durationOf(row.p95_ms) },
  { title: "99 of 100", number: true, cell: (row) => durationOf(row.p99_ms) },
];

export function Calls({ calls }) {
  const [kind, setKind] = useState("");
  const rows = calls.filter((one) => !kind || one.kind === kind);
  const choice = html`<${Segments} label="Which calls" options=${SHOWN} value=${kind} onChange=${setKind} />`;
  return html`<${Section} title="Calls by name" actions=${choice} class="metrics-calls">
    ${rows.length ? html`<${Table} caption="Calls by name" columns=${COLUMNS} rows=${rows} keyOf=${(row) => `${row.kind} ${row.name}`} />` : html`<p class="soft">No ${kind === "tool" ? "agent has used a tool" : "program has called a verb"} since Lore started.</p>`}
  <//>`;
}
