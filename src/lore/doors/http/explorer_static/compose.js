// compose: add a memory by hand, or one that replaces another.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { call } from "./api.js";
import { undoBatch, lastBatch } from "./changes.js";
import { labelOf } from "./format.js";
import { useVerb } from "./load.js";
import { Button } from "./parts/button.js";
import { Dialog } from "./parts/dialog.js";
import { Choice, Field } from "./parts/field.js";
import { tell } from "./parts/toast.js";
import { go, href } from "./router.js";
import { signal } from "./signal.js";
import { OWN_TYPES, typeName } from "./words.js";

/** null, or the start of a new memory: {content, type, project, parent, replaces: Memory}. */
export const composing = signal(null);

export function Compose({ start }) {
  const old = start.replaces;
  const [draft, setDraft] = useState({
    content: start.content ?? old?.content ?? "",
    title: start.title ?? old?.title ?? "",
    type: start.type ?? old?.type ?? "",
    project: start.project ?? old?.project ?? "",
  });
  const [problem, setProblem] = useState("");
  const { value: projects = {} } = useVerb("projects");
  const set = (name) => (value) => setDraft((all) => ({ ...all, [name]: value }));
  const close = () => composing.set(null);
  const types = OWN_TYPES.includes(draft.type) || !draft.type ? OWN_TYPES : [draft.type, ...OWN_TYPES];
  const names = [...new Set([...Object.keys(projects).filter(Boolean), draft.project].filter(Boolean))].sort();

  const submit = async (event) => {
    event.preventDefault();
    const { error } = await save(draft, start);
    if (error) setProblem(error.message);
    else close();
  };
  return html`<${Dialog} title=${old ? "Replace by a newer memory" : "Add a memory"} onClose=${close}>
    <form class="stack" onSubmit=${submit}>
      ${old && html`<p class="soft">It takes the place of “${labelOf(old, 60)}”, which stays in the history.</p>`}
      <${Field} label="What should be remembered?" lines="4" value=${draft.content} onInput=${set("content")} problem=${problem} required data-first />
      <${Field} label="Title (may stay empty)" value=${draft.title} onInput=${set("title")} />
      <div class="pair">
        <${Choice} label="Type" value=${draft.type} onChange=${set("type")} options=${[["", "None"], ...types.map((one) => [one, typeName(one)])]} />
        <${Choice} label="Project" value=${draft.project} onChange=${set("project")} options=${[["", "Everywhere"], ...names.map((one) => [one, one])]} />
      </div>
      <div class="dialog-foot">
        <${Button} onClick=${close}>Cancel<//>
        <${Button} type="submit" look="main" disabled=${!draft.content.trim()}>${old ? "Replace" : "Remember"}<//>
      </div>
    </form>
  <//>`;
}

async function save(draft, { replaces, parent }) {
  const kept = await call("remember", { draft: { ...draft, ...(parent ? { parent } : {}), kind: replaces?.kind ?? "note" } });
  if (kept.error) return kept;
  const { id } = kept.value;
  if (!replaces) {
    tell("Remembered.", { undo: () => call("forget", { ids: [id] }) });
    go(href("memory", id));
    return kept;
  }
  const answer = await call("supersede", { old: replaces.id, new: id });
  if (answer.error) {
    await call("forget", { ids: [id] });
    return answer;
  }
  const batch = await lastBatch(replaces.id);
  tell("Replaced. The older memory stays in the history.", { undo: () => takeBack(batch, id) });
  go(href("memory", id));
  return answer;
}

async function takeBack(batch, id) {
  const answer = await undoBatch(batch);
  return answer.error ? answer : call("forget", { ids: [id] });
}
