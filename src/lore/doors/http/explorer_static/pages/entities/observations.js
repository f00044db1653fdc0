// observations: what is known about an entity now, what was known before, and a field for more.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { call, may } from "../../api.js";
import { change, lastBatch, restore, undoBatch } from "../../changes.js";
import { oneLine } from "../../format.js";
import { Button } from "../../parts/button.js";
import { Chip } from "../../parts/chip.js";
import { ask } from "../../parts/dialog.js";
import { Field } from "../../parts/field.js";
import { Section } from "../../parts/page.js";
import { Menu } from "../../parts/picker.js";
import { Time } from "../../parts/time.js";
import { tell, tellError } from "../../parts/toast.js";
import { go, href } from "../../router.js";
import { plain } from "../../words.js";

const SIMILAR = "similar";

export function Observations({ entity, current, all, onChange }) {
  const [older, setOlder] = useState(null);
  const past = all.filter((memory) => !current.includes(memory));
  const newest = [...current].sort((one, other) => other.created_at - one.created_at || other.alias - one.alias);
  return html`<${Section} title="What is known" actions=${html`<span class="count">${current.length}</span>`} flush>
    ${may("write") && html`<${Add} key=${older?.id ?? ""} entity=${entity} older=${older} onChange=${onChange} onDone=${() => setOlder(null)} />`}
    <ul class="list">
      ${newest.map((memory) => html`<${Row} key=${memory.id} entity=${entity} memory=${memory} onChange=${onChange} onReplace=${() => setOlder(memory)} />`)}
    </ul>
    ${current.length === 0 && html`<p class="soft card-body">Nothing is known about ${entity.title} now.</p>`}
    ${past.length > 0 &&
    html`<details class="entity-past">
      <summary>What was known before (${past.length})</summary>
      <ul class="list">${past.map((memory) => html`<${Past} key=${memory.id} memory=${memory} onChange=${onChange} />`)}</ul>
    </details>`}
  <//>`;
}

function Add({ entity, older, onChange, onDone }) {
  const [text, setText] = useState(older?.content ?? "");
  const submit = async (event) => {
    event.preventDefault();
    if (!text.trim()) return;
    const subject = { name: entity.title, observations: [text.trim()], ...(older ? { kind: older.type || "generic", supersedes: older.alias } : {}) };
    const { value } = await observe(subject, older, onChange);
    if (!value) return;
    setText("");
    onDone();
    onChange();
  };
  return html`<form class="card-body entity-add" onSubmit=${submit}>
    <${Field}
      label=${older ? `What is true instead of “${oneLine(older.content, 60)}”?` : `Something new about ${entity.title}`}
      value=${text} onInput=${setText} autocomplete="off" inputRef=${older ? (field) => field?.focus() : undefined}
    />
    <${Button} type="submit" look="main" disabled=${!text.trim() || text.trim() === older?.content}>${older ? "Replace" : "Add"}<//>
    ${older && html`<${Button} onClick=${onDone}>Cancel<//>`}
  </form>`;
}

/** Keep an observation and tell the reader. older: the one that it replaces. */
async function observe(subject, older, onChange) {
  const answer = await call("observe", { subjects: [subject] });
  if (answer.error) return tellError(answer.error), answer;
  const [added] = answer.value[0].added;
  if (!added) return tell("This is known already."), answer;
  if (older) {
    const batch = await lastBatch(older.id);
    tell("Replaced. The old observation stays below.", { undo: () => undoBatch(batch).finally(onChange) });
  } else {
    tell("Added.", { undo: () => call("forget", { ids: [added.id] }).finally(onChange) });
  }
  return answer;
}

/** Hide an observation, after asking. */
export async function retract(entity, memory, onChange) {
  const sure = await ask({
    title: "Retract this observation?",
    text: `“${oneLine(memory.content, 160)}” is no longer handed to agents. It stays under “What was known before”, and you can bring it back.`,
    action: "Retract",
  });
  if (!sure) return null;
  const subjects = [{ name: entity.title, observations: [memory.content] }];
  const undo = () => call("restore", { ids: [memory.id] }).finally(onChange);
  return change("retract", { subjects, strict: true }, { done: "Retracted.", undo }).finally(onChange);
}

function Row({ entity, memory, onChange, onReplace }) {
  const actions = [
    { text: "Replace", icon: "replace", run: onReplace },
    { text: "Retract", icon: "trash", run: () => retract(entity, memory, onChange) },
    null,
    { text: "Open", icon: "note", run: () => go(href("memory", memory.id)) },
  ];
  return html`<li class="entity-row">
    <div class="grow">
      <p class="prose">${memory.content}</p>
      <div class="meta">
        <${Time} at=${memory.created_at} />
        ${memory.type && memory.type !== "generic" && html`<${Chip}>${plain(memory.type)}<//>`}
        ${memory.flags.includes(SIMILAR) && html`<${Chip} tone="warn">Repeats another<//>`}
      </div>
    </div>
    ${may("write") && html`<${Menu} small label=${`More about “${oneLine(memory.content, 40)}”`} actions=${actions} />`}
  </li>`;
}

function Past({ memory, onChange }) {
  const gone = memory.forgotten_at != null;
  return html`<li class="entity-row">
    <div class="grow">
      <p class="prose soft">${memory.content}</p>
      <div class="meta">
        <span>${gone ? "Retracted" : "Replaced"} <${Time} at=${gone ? memory.forgotten_at : memory.superseded_at ?? memory.updated_at} /></span>
        ${memory.superseded_by && html`<a class="link" href=${href("memory", memory.superseded_by)}>by what</a>`}
      </div>
    </div>
    ${gone && may("write") && html`<${Button} small icon="undo" onClick=${() => restore([memory]).finally(onChange)}>Bring back<//>`}
  </li>`;
}
