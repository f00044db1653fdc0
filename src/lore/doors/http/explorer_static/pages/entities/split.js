// split: an entity that is too large, and the things that it could be split into.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { call, may } from "../../api.js";
import { lastBatch, undoBatch } from "../../changes.js";
import { count } from "../../format.js";
import { useVerb } from "../../load.js";
import { Button } from "../../parts/button.js";
import { Dialog } from "../../parts/dialog.js";
import { Check, Field } from "../../parts/field.js";
import { Section } from "../../parts/page.js";
import { tell } from "../../parts/toast.js";

const LARGE = 10;
const SHOWN = 4;

/** The proposal, where there is one. */
export function Split({ entity, size, onChange }) {
  const [open, setOpen] = useState(false);
  const { value } = useVerb("analyse", size > LARGE ? { name: entity.title } : null);
  const topics = Object.entries(value?.[0]?.topics ?? {});
  if (topics.length < 2) return null;
  return html`<${Section} title="This may be several things">
    <div class="stack tight">
      <p class="soft">${count(size, "observation")} are many for one entry. They fall into ${count(topics.length, "topic")}:</p>
      <ul class="entity-topics">
        ${topics.map(([topic, memories]) => html`<li key=${topic}><span class="cut">${topic}</span><span class="count">${memories.length}</span></li>`)}
      </ul>
      ${may("write") && html`<div><${Button} icon="merge" onClick=${() => setOpen(true)}>Preview a split<//></div>`}
    </div>
    ${open && html`<${Preview} entity=${entity} topics=${topics} onChange=${onChange} onClose=${() => setOpen(false)} />`}
  <//>`;
}

function Preview({ entity, topics, onChange, onClose }) {
  const [parts, setParts] = useState(() => topics.map(([topic, memories]) => ({ topic, name: `${entity.title} - ${topic}`, memories, on: true })));
  const [problem, setProblem] = useState("");
  const set = (at, changes) => setParts((all) => all.map((part, index) => (index === at ? { ...part, ...changes } : part)));
  const chosen = parts.filter((part) => part.on && part.name.trim());
  const moved = chosen.reduce((sum, part) => sum + part.memories.length, 0);
  const submit = async (event) => {
    event.preventDefault();
    const wanted = chosen.map((part) => ({ name: part.name.trim(), type: entity.type, observations: part.memories.map((memory) => memory.content) }));
    const { value, error } = await call("split", { name: entity.title, parts: wanted });
    if (error) return setProblem(error.message);
    const batch = await lastBatch(value.created[0].entity.id);
    tell(`Split: ${count(value.moved, "observation")} moved into ${count(value.created.length, "new entry", "new entries")}.`, { undo: batch && (() => undoBatch(batch).finally(onChange)) });
    onClose();
    return onChange();
  };
  return html`<${Dialog} title=${`Split ${entity.title}`} onClose=${onClose}>
    <form class="stack" onSubmit=${submit}>
      <p class="soft">Each ticked topic becomes an entry of its own, as a part of ${entity.title}. Nothing is lost.</p>
      ${parts.map(
        (part, at) => html`<fieldset class="entity-part" key=${part.topic}>
          <${Check} label=${`${part.topic}: ${count(part.memories.length, "observation")}`} checked=${part.on} onChange=${(on) => set(at, { on })} />
          <${Field} label="Name" value=${part.name} onInput=${(name) => set(at, { name })} disabled=${!part.on} />
          <ul class="small soft entity-said">
            ${part.memories.slice(0, SHOWN).map((memory) => html`<li key=${memory.id}>${memory.content}</li>`)}
          </ul>
          ${part.memories.length > SHOWN &&
          html`<details class="small"><summary>${part.memories.length - SHOWN} more</summary>
            <ul class="soft entity-said">${part.memories.slice(SHOWN).map((memory) => html`<li key=${memory.id}>${memory.content}</li>`)}</ul>
          </details>`}
        </fieldset>`,
      )}
      ${problem && html`<p class="problem" role="alert">${problem}</p>`}
      <div class="dialog-foot">
        <${Button} onClick=${onClose}>Cancel<//>
        <${Button} type="submit" look="main" disabled=${!chosen.length}>Move ${count(moved, "observation")}<//>
      </div>
    </form>
  <//>`;
}
