// forget: a whole conversation, project or day at once; first it is counted, and Undo brings all of it back.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { call, request } from "../../api.js";
import { undoBatch } from "../../changes.js";
import { count, labelOf } from "../../format.js";
import { useLoad, useVerb } from "../../load.js";
import { Button, Segments } from "../../parts/button.js";
import { ask, Dialog } from "../../parts/dialog.js";
import { Choice, Field } from "../../parts/field.js";
import { tell, tellError } from "../../parts/toast.js";
import { projectName } from "../../words.js";
import { daySpan } from "./find.js";

const memories = (number) => count(number, "memory", "memories");
const countOf = (where) => request("POST", "forget_where", { json: { where, dry_run: true } });

async function forgetNow(where, reason) {
  const { value, error } = await call("forget_where", { where, reason });
  if (error) tellError(error);
  else tell(`${memories(value.count)} forgotten.`, { undo: value.batch ? () => undoBatch(value.batch) : undefined });
  return !error;
}

/** Forget a conversation with its messages and what was learnt from them alone. Whether it was done. */
export async function forgetSession(session) {
  const where = { sessions: [session.id] };
  const { value, error } = await countOf(where);
  if (error) return tellError(error), false;
  const answer = await ask({
    title: "Forget this session?",
    text: `${memories(value.count)} would be forgotten: the messages of “${labelOf(session, 60)}”, and what was learnt from them alone. You can bring all of it back.`,
    action: `Forget ${memories(value.count)}`,
    danger: true,
    reason: "Why? (may stay empty)",
  });
  return answer ? forgetNow(where, answer.reason) : false;
}

/** Choose a project or a day, see how much it is, and forget it. */
export function ForgetMany({ project = "", day = "", onClose }) {
  const [what, setWhat] = useState(day && !project ? "day" : "project");
  const [chosen, setChosen] = useState({ project, day });
  const [reason, setReason] = useState("");
  const { value: projects = {} } = useVerb("projects");
  const where = whereOf(what, chosen);
  const trial = useLoad(() => countOf(where), where && JSON.stringify(where), { live: false });
  const number = where && !trial.loading && !trial.error ? trial.value?.count : undefined;
  const submit = async (event) => {
    event.preventDefault();
    if (number && (await forgetNow(where, reason.trim()))) onClose();
  };
  const names = Object.keys(projects).filter(Boolean).sort();
  return html`<${Dialog} title="Forget a project or a day" onClose=${onClose}>
    <form class="stack" onSubmit=${submit}>
      <div class="row"><${Segments} label="What to forget" options=${[["project", "A project"], ["day", "A day"]]} value=${what} onChange=${setWhat} /></div>
      ${what === "project"
        ? html`<${Choice} label="Project" value=${chosen.project} onChange=${(one) => setChosen({ ...chosen, project: one })}
            options=${[["", "Choose one"], ...names.map((one) => [one, projectName(one)])]} />`
        : html`<${Field} label="Day" type="date" value=${chosen.day} onInput=${(one) => setChosen({ ...chosen, day: one })} />`}
      <${Field} label="Why? (may stay empty)" value=${reason} onInput=${setReason} />
      <p class="soft" role="status">${trial.error ? trial.error.message : sentence(what, where, number)}</p>
      <div class="dialog-foot">
        <${Button} onClick=${onClose}>Cancel<//>
        <${Button} type="submit" look="danger main" disabled=${!number}>${number ? `Forget ${memories(number)}` : "Forget"}<//>
      </div>
    </form>
  <//>`;
}

function whereOf(what, { project, day }) {
  if (what === "project") return project ? { projects: [project] } : null;
  const span = daySpan(day);
  return span.created_after ? span : null;
}

function sentence(what, where, number) {
  if (!where) return what === "project" ? "All that belongs to the project goes: conversations and what was learnt." : "All that was said or learnt on the day goes, in every project.";
  if (number === undefined) return "Counting…";
  if (!number) return "There is nothing to forget here.";
  return `${memories(number)} would no longer be found or handed to agents. You can bring all of it back.`;
}
