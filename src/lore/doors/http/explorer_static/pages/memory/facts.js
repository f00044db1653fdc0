// facts: the small print of a memory.
import { html } from "htm/preact";
import { count, number, percent } from "../../format.js";
import { Section } from "../../parts/page.js";
import { Time } from "../../parts/time.js";
import { href } from "../../router.js";
import { kindName, plain, projectName, trustName, typeName } from "../../words.js";

export function Facts({ reading }) {
  const { memory } = reading;
  const rows = [
    ["Type", memory.type && typeName(memory.type)],
    ["Kind", kindName(memory.kind)],
    ["Project", memory.project ? html`<a class="link" href=${href("search", { project: memory.project })}>${projectName(memory.project)}</a>` : "Everywhere"],
    ["Importance", percent(memory.importance)],
    ["Trust", `${trustName(memory.trust)} (${percent(memory.trust)})`],
    ["Rating", `${Math.round(memory.score * 10) / 10} of 10`],
    ["Used", memory.access_count ? count(memory.access_count, "time") : "Not yet"],
    ["Last used", memory.last_accessed_at && html`<${Time} at=${memory.last_accessed_at} />`],
    ["Learnt", html`<${Time} at=${memory.created_at} exact />`],
    ["Changed", memory.updated_at > memory.created_at + 1 && html`<${Time} at=${memory.updated_at} />`],
    ["Status", memory.status && plain(memory.status)],
    ["Written by", memory.author],
    ["Namespace", memory.namespace],
    ["Number", memory.alias ? number(memory.alias) : ""],
    ["Id", html`<span class="mono small">${memory.id}</span>`],
  ].filter(([, value]) => value);
  return html`<${Section} title="Details">
    <dl class="facts">${rows.map(([name, value]) => html`<dt key=${name}>${name}</dt><dd>${value}</dd>`)}</dl>
  <//>`;
}
