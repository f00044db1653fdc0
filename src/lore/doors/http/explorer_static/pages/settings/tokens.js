// tokens: who may call this Lore from elsewhere; a new token is shown once.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { request, session } from "../../api.js";
import { dayOf } from "../../format.js";
import { useGet } from "../../load.js";
import { Button } from "../../parts/button.js";
import { Chip } from "../../parts/chip.js";
import { ask } from "../../parts/dialog.js";
import { Icon } from "../../parts/icon.js";
import { Section } from "../../parts/page.js";
import { Empty, Loaded } from "../../parts/states.js";
import { Time } from "../../parts/time.js";
import { tell, tellError } from "../../parts/toast.js";
import { plain } from "../../words.js";
import { NewToken } from "./new_token.js";

const TONES = { active: "good", expired: "warn", revoked: "" };

export function Tokens() {
  const load = useGet("tokens", { live: false });
  const [making, setMaking] = useState(false);
  const isHere = !session.get()?.name;
  const add = isHere && html`<${Button} small icon="plus" look="main" onClick=${() => setMaking(true)}>New token<//>`;
  return html`<${Section} title="Tokens" actions=${add} flush>
      <p class="soft settings-about">A token lets a program on another machine use this memory. Its holder sees the namespaces it names and no others.
        ${!isHere && html` New ones are made on the server's machine: with <code>lore token create</code>, or on a page that <code>lore explorer</code> opens.`}</p>
      <${Loaded} from=${load} lines="4">
        ${({ tokens }) => (tokens.length
          ? html`<ul class="list">${ordered(tokens).map((one) => html`<li key=${one.id}><${Token} token=${one} reload=${load.reload} /></li>`)}</ul>`
          : html`<${Empty} icon="key" title="No tokens"><p>Programs on this machine need none.</p><//>`)}
      <//>
    <//>
    ${making && html`<${NewToken} onClose=${() => (setMaking(false), load.reload())} />`}`;
}

function ordered(tokens) {
  const rank = (one) => (one.state === "active" ? 0 : 1);
  return [...tokens].sort((one, other) => rank(one) - rank(other) || other.created_at - one.created_at);
}

async function revoke(token, reload) {
  const answer = await ask({
    title: `Revoke “${token.name}”?`,
    text: "Programs that use this token are refused from now on. A revoked token cannot be used again; make a new one instead.",
    action: "Revoke",
    danger: true,
  });
  if (!answer) return;
  const { error } = await request("DELETE", `tokens/${encodeURIComponent(token.id)}`);
  if (error) tellError(error);
  else tell(`“${token.name}” is revoked.`);
  await reload();
}

function Token({ token, reload }) {
  const isActive = token.state === "active";
  return html`<div class=${`memory-row ${isActive ? "" : "faint"}`}>
    <${Icon} name="key" size="16" />
    <div class="grow stack tight">
      <div class="row wrap"><strong>${token.name}</strong><${Chip} tone=${TONES[token.state] ?? ""}>${plain(token.state)}<//></div>
      <span class="meta">
        <span>${token.rights.join(", ")}</span>
        <span>${token.namespaces.includes("*") ? "all namespaces" : token.namespaces.join(", ")}</span>
        ${token.tenant && html`<span>tenant ${token.tenant}</span>`}
        <span>made <${Time} at=${token.created_at} /></span>
        <span>last used <${Time} at=${token.last_used_at} /></span>
        ${token.expires_at && html`<span>until ${dayOf(token.expires_at)}</span>`}
      </span>
    </div>
    ${isActive && html`<${Button} small look="danger" label=${`Revoke ${token.name}`} onClick=${() => revoke(token, reload)}>Revoke<//>`}
  </div>`;
}
