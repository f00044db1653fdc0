// edit: change a memory; the earlier text stays in its history.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { change } from "../../changes.js";
import { percent } from "../../format.js";
import { Button } from "../../parts/button.js";
import { Choice, Field, Slider } from "../../parts/field.js";
import { OWN_TYPES, typeName } from "../../words.js";

const FIELDS = ["title", "content", "type", "importance"];

export function Edit({ memory, onDone }) {
  const [draft, setDraft] = useState(Object.fromEntries(FIELDS.map((name) => [name, memory[name]])));
  const [reason, setReason] = useState("");
  const set = (name) => (value) => setDraft((all) => ({ ...all, [name]: value }));
  const types = !draft.type || OWN_TYPES.includes(draft.type) ? OWN_TYPES : [draft.type, ...OWN_TYPES];
  const changed = FIELDS.filter((name) => draft[name] !== memory[name]);
  const save = async (event) => {
    event.preventDefault();
    const revision = { id: memory.id, ...Object.fromEntries(changed.map((name) => [name, draft[name]])) };
    const answer = await change("revise", { revision, reason }, { done: "Saved. The earlier text stays in the history.", id: memory.id });
    if (!answer.error) onDone();
  };
  const keys = (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && changed.length && save(event);
  return html`<form class="card padded stack" onSubmit=${save} onKeyDown=${keys} aria-label="Edit the memory">
    <${Field} label="Title" value=${draft.title} onInput=${set("title")} />
    <${Field} label="Text" lines="6" value=${draft.content} onInput=${set("content")} inputRef=${(field) => field?.isConnected && !field.dataset.seen && ((field.dataset.seen = "1"), field.focus())} />
    <div class="pair">
      <${Choice} label="Type" value=${draft.type} onChange=${set("type")} options=${[["", "None"], ...types.map((one) => [one, typeName(one)])]} />
      <${Slider} label="Importance" value=${draft.importance} text=${percent(draft.importance)} onInput=${set("importance")} />
    </div>
    <${Field} label="Why? (may stay empty)" value=${reason} onInput=${setReason} />
    <div class="dialog-foot">
      <${Button} onClick=${onDone}>Cancel<//>
      <${Button} type="submit" look="main" disabled=${!changed.length || !draft.content.trim()}>Save<//>
    </div>
  </form>`;
}
