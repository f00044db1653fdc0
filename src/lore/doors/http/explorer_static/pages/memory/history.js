// history: every change of a memory, newest first, each with a way back.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { may } from "../../api.js";
import { undoBatch } from "../../changes.js";
import { useVerb } from "../../load.js";
import { Button } from "../../parts/button.js";
import { Section } from "../../parts/page.js";
import { Loaded } from "../../parts/states.js";
import { Difference } from "../../parts/text.js";
import { Time } from "../../parts/time.js";
import { tell, tellError } from "../../parts/toast.js";
import { changeName, fieldName } from "../../words.js";

const STEP = 10;
const TEXTS = new Set(["content", "title", "summary"]);
const HIDDEN = new Set(["updated_at", "superseded_at", "forgotten_at", "last_reinforced_at", "context", "confidence_count"]);

export function History({ memory, onUndone }) {
  const [limit, setLimit] = useState(STEP);
  const journal = useVerb("activity", { id: memory.id, limit }, { live: (ids) => ids.includes(memory.id) });
  return html`<${Section} title="History">
    <${Loaded} from=${journal} lines="3">
      ${({ entries, more }) => html`<ol class="changes">
          ${entries.map((entry) => html`<${Change} key=${entry.seq} entry=${entry} onUndone=${() => (journal.reload(), onUndone())} />`)}
        </ol>
        ${more && html`<${Button} small onClick=${() => setLimit(limit + STEP)}>Show earlier changes<//>`}`}
    <//>
  <//>`;
}

function Change({ entry, onUndone }) {
  const { cause } = entry;
  const created = entry.before === null;
  const undo = async () => {
    const answer = await undoBatch(entry.batch);
    if (answer.error) return tellError(answer.error);
    tell("Taken back.", { undo: () => undoBatch(answer.value.batch) });
    return onUndone();
  };
  return html`<li>
    <div class="row spread">
      <span><strong>${created && cause.verb === "consolidate" ? "Learnt" : changeName(cause.verb)}</strong> <span class="meta-inline"><${Time} at=${entry.at} />${byOf(cause)}</span></span>
      ${may("write") && !created && html`<${Button} small look="quiet" icon="undo" onClick=${undo}>Undo<//>`}
    </div>
    ${cause.reason && html`<p class="soft small">“${cause.reason}”</p>`}
    ${!created && html`<${Fields} entry=${entry} />`}
  </li>`;
}

/** Who did it, as far as that is known. */
function byOf({ actor, surface }) {
  if (actor) return ` · by ${actor}`;
  return surface && surface !== "api" ? ` · over ${surface}` : "";
}

function Fields({ entry }) {
  const names = Object.keys(entry.after ?? {}).filter((name) => !HIDDEN.has(name));
  return html`<dl class="fields">
    ${names.map((name) => {
      const [before, after] = [entry.before?.[name], entry.after[name]];
      const texts = TEXTS.has(name) && typeof before === "string" && typeof after === "string";
      return html`<div key=${name}>
        <dt>${fieldName(name)}</dt>
        <dd>${texts ? html`<${Difference} before=${before} after=${after} />` : html`${shown(before)} → ${shown(after)}`}</dd>
      </div>`;
    })}
  </dl>`;
}

function shown(value) {
  if (value === null || value === undefined || value === "") return "nothing";
  if (typeof value === "number") return String(Math.round(value * 1000) / 1000);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
