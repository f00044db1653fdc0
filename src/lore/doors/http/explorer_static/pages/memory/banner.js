// banner: what a reader must know first: the memory is forgotten, replaced, updated, or cites changed files.
import { html } from "htm/preact";
import { call, may } from "../../api.js";
import { undoBatch } from "../../changes.js";
import { Button } from "../../parts/button.js";
import { Notice } from "../../parts/states.js";
import { Time } from "../../parts/time.js";
import { tell, tellError } from "../../parts/toast.js";
import { href } from "../../router.js";

const FILES = { changed: "has changed", gone: "is gone" };

export function Banner({ reading, actions, reload }) {
  const { memory, successor, citations } = reading;
  if (memory.forgotten_at != null) return html`<${Forgotten} memory=${memory} actions=${actions} />`;
  const outdated = Object.entries(citations).filter(([, state]) => FILES[state]);
  return html`${(successor || memory.superseded_by) && html`<${Replaced} memory=${memory} successor=${successor} reload=${reload} />`}
  ${outdated.length > 0 &&
  html`<${Notice} tone="warn" icon="file">
    ${outdated.map(([file, state], at) => html`${at > 0 && "; "}<code>${file}</code> ${FILES[state]}`)} since this was learnt.
  <//>`}`;
}

function Forgotten({ memory, actions }) {
  return html`<${Notice} tone="bad" icon="trash">
    <div class="row wrap spread">
      <span>This memory is forgotten since <${Time} at=${memory.forgotten_at} />${memory.forgotten_reason && html`: “${memory.forgotten_reason}”`}. No search finds it.</span>
      <span class="row">
        <${Button} small icon="undo" onClick=${actions.restore}>Bring back<//>
        ${may("admin") && html`<${Button} small icon="flame" look="danger" onClick=${actions.purge}>Erase for good…<//>`}
      </span>
    </div>
  <//>`;
}

function Replaced({ memory, successor, reload }) {
  const id = successor?.id ?? memory.superseded_by;
  const verb = memory.superseded_by ? "replaced" : "updated";
  const back = async () => {
    const { value } = await call("activity", { id: memory.id });
    const batch = value?.entries.find((entry) => entry.after?.superseded_by)?.batch;
    const answer = await undoBatch(batch);
    if (answer.error) tellError(answer.error);
    else tell("It counts again.", { undo: () => undoBatch(answer.value.batch) });
    reload();
  };
  return html`<${Notice} tone="warn" icon="replace">
    <div class="row wrap spread">
      <span>A newer memory has ${verb} this one: <a class="link" href=${href("memory", id)}>${successor?.label ?? "show it"}</a></span>
      ${memory.superseded_by && may("write") && html`<${Button} small icon="undo" onClick=${back}>This one is right<//>`}
    </div>
  <//>`;
}
