// waiting: conversations that Lore has still to learn from, and those where that went wrong.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { call, may } from "../../api.js";
import { ago, count, labelOf } from "../../format.js";
import { useVerb } from "../../load.js";
import { Button } from "../../parts/button.js";
import { Chip } from "../../parts/chip.js";
import { Icon } from "../../parts/icon.js";
import { Section } from "../../parts/page.js";
import { tell, tellError } from "../../parts/toast.js";
import { href } from "../../router.js";

const SHOWN = 4;
const ATTEMPTS = 5;

export function Waiting() {
  const { value: staged, reload } = useVerb("staged");
  const [all, setAll] = useState(false);
  if (!staged?.length) return null;
  const ordered = [...staged].sort((one, other) => other.attempts - one.attempts);
  const failed = ordered.filter((one) => one.attempts);
  const turns = staged.reduce((sum, one) => sum + one.turns, 0);
  const retry = failed.length > 1 && may("write") && html`<${Button} small icon="refresh" onClick=${() => tryAgain(failed, reload)}>Try all again<//>`;
  return html`<${Section} title="Waiting to be digested" actions=${retry} flush>
    <p class="soft session-about">
      Lore has still to learn from ${count(turns, "message")}. It begins once a conversation has been quiet for a while.${" "}
      <a href=${href("consolidation")}>Do it now</a>
    </p>
    <ul class="list">
      ${ordered.slice(0, all ? undefined : SHOWN).map((one) => html`<li key=${one.session.id}><${One} staged=${one} reload=${reload} /></li>`)}
    </ul>
    ${!all && staged.length > SHOWN && html`<div class="padded-more"><${Button} small onClick=${() => setAll(true)}>Show all ${staged.length}<//></div>`}
  <//>`;
}

async function tryAgain(failed, reload) {
  const { error } = await call("retry", { sessions: failed.map((one) => one.session.id) });
  if (error) tellError(error);
  else tell("It is tried again in the next consolidation.");
  await reload();
}

function One({ staged, reload }) {
  const { session, turns, attempts, retry_at, trouble } = staged;
  return html`<div class="memory-row">
    <${Icon} name=${attempts ? "warning" : "clock"} size="16" />
    <span class="grow stack tight session-row">
      <a href=${href("sessions", session.id)}><strong>${labelOf(session)}</strong></a>
      ${trouble && html`<p>${trouble}</p>`}
      <span class="meta">
        <span>${count(turns, "message")} to digest</span>
        ${attempts > 0 && html`<${Chip} tone="warn">${count(attempts, "failure")}<//><span>${nextOf(attempts, retry_at)}</span>`}
      </span>
    </span>
    ${attempts > 0 && may("write") && html`<${Button} small icon="refresh" onClick=${() => tryAgain([staged], reload)}>Try again<//>`}
  </div>`;
}

function nextOf(attempts, retryAt) {
  if (attempts >= ATTEMPTS) return "Lore no longer tries by itself";
  return retryAt > Date.now() / 1000 ? `tried again ${ago(retryAt)}` : "tried again soon";
}
