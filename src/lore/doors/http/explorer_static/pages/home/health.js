// health: a few figures, and whatever is not well.
import { html } from "htm/preact";
import { ago, bytes, count, number } from "../../format.js";
import { Icon } from "../../parts/icon.js";
import { Notice } from "../../parts/states.js";
import { href } from "../../router.js";
import { useWaiting } from "../../waiting.js";

export function Health({ status }) {
  const { counts } = status;
  const waiting = useWaiting();
  const problems = problemsOf(status);
  return html`<div class="stack">
    <ul class="figures">
      <${Figure} icon="note" label="Memories" value=${number(counts.memories)} to=${href("search")} note=${`${number(counts.forgotten)} forgotten`} />
      <${Figure} icon="link" label="Links" value=${number(counts.links)} to=${href("map")} note="between them" />
      <${Figure} icon="inbox" label="To review" value=${number(waiting)} to=${href("review")} note=${waiting ? "wait for you" : "All decided"} strong=${waiting > 0} />
      <${Figure} icon=${problems.length ? "warning" : "check"} label="Health" value=${problems.length ? "Look below" : "All well"} to=${href("settings")}
        note=${`${bytes(status.size_bytes)}${status.last_write_at ? `, last change ${ago(status.last_write_at)}` : ""}`} tone=${problems.length ? "warn" : "good"} />
    </ul>
    ${problems.map((text) => html`<${Notice} key=${text} tone="warn" icon="warning">${text}<//>`)}
  </div>`;
}

function Figure({ icon, label, value, note, to, tone = "", strong }) {
  return html`<li>
    <a class=${`figure card ${tone} ${strong ? "strong" : ""}`} href=${to}>
      <span class="row faint small"><${Icon} name=${icon} size="15" />${label}</span>
      <strong>${value}</strong>
      <span class="faint small">${note}</span>
    </a>
  </li>`;
}

/** What is wrong or not ready, as sentences. */
function problemsOf(status) {
  const problems = [...status.warnings];
  if (status.embedding_state === "missing") problems.push(`Searches compare words only, not meaning: ${status.error}.`);
  if (status.embedding_state === "warming") problems.push("The language model is still loading; until then searches compare words only.");
  if (status.embedding_state === "ready" && status.pending) problems.push(`${count(status.pending, "memory", "memories")} can be found by words already; by meaning soon.`);
  if (status.staged_turns) problems.push(`${count(status.staged_turns, "message")} of conversations wait to be learnt from.`);
  return problems;
}
