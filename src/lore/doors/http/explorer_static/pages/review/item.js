// item: one thing to decide: what it is about, both sides, and the two answers.
import { html } from "htm/preact";
import { may } from "../../api.js";
import { labelOf, oneLine } from "../../format.js";
import { Button } from "../../parts/button.js";
import { Chip } from "../../parts/chip.js";
import { Icon } from "../../parts/icon.js";
import { Difference } from "../../parts/text.js";
import { Time } from "../../parts/time.js";
import { href } from "../../router.js";
import { LINK_SIGNALS, plain } from "../../words.js";
import { KINDS } from "./inbox.js";

const STRONG = 0.5;

export function Item({ item, chosen, onToggle, onJudge }) {
  const words = KINDS[item.kind];
  return html`<li class=${`card review-item ${chosen ? "chosen" : ""}`} tabindex="-1" aria-label=${words.about}>
    <div class="review-head">
      <input type="checkbox" checked=${chosen} onChange=${onToggle} aria-label=${`Choose: ${titleOf(item)}`} />
      <${Icon} name=${words.icon} />
      <span class="grow">${words.about}</span>
      ${item.at && html`<span class="faint small"><${Time} at=${item.at} /></span>`}
    </div>
    <div class="review-body">${item.kind === "quarantined" ? html`<${Held} item=${item} />` : html`<${Pair} item=${item} />`}</div>
    ${may(item.kind === "suggestions" ? "write" : "admin") &&
    html`<div class="review-foot">
      <${Button} small icon="check" look=${words.careful ? "" : "main"} onClick=${() => onJudge(true)}>${words.accept}<//>
      <${Button} small icon=${words.careful ? "trash" : "close"} look=${words.careful ? "main" : ""} onClick=${() => onJudge(false)}>${words.reject}<//>
    </div>`}
  </li>`;
}

const titleOf = (item) => labelOf(item.memory ?? item.newer, 60);

function Held({ item }) {
  const reasons = item.reasons ?? [];
  return html`<${Side} memory=${item.memory} text=${oneLine(item.memory.content, 500)} />
    ${reasons.length > 0 && html`<div class="row wrap">${reasons.map((reason) => html`<${Chip} key=${reason} tone="warn">${plain(reason)}<//>`)}</div>`}`;
}

function Pair({ item }) {
  const { older, newer } = item;
  const link = item.kind === "suggestions";
  const difference = !link && older.content.length < 1200 && newer.content.length < 1200;
  return html`<div class="sides">
      <${Side} heading=${link ? "" : "Older"} memory=${older} text=${oneLine(older.content, 400)} />
      <${Side} heading=${link ? "" : "Newer"} memory=${newer} text=${difference ? html`<${Difference} before=${older.content} after=${newer.content} />` : oneLine(newer.content, 400)} />
    </div>
    ${item.reason && html`<p class="soft small">Because: ${item.reason}</p>`}
    ${link && html`<p class="soft small">${whyOf(item.signals)}</p>`}`;
}

function Side({ heading, memory, text }) {
  return html`<div class="side-text">
    ${heading && html`<div class="faint small">${heading} · <${Time} at=${memory.created_at} /></div>`}
    <a class="side-title" href=${href("memory", memory.id)}>${labelOf(memory)}</a>
    ${(memory.title || typeof text !== "string") && html`<p class="soft prose">${text}</p>`}
  </div>`;
}

/** Why two memories may belong together. */
function whyOf(signals = {}) {
  const strong = Object.entries(signals).filter(([, value]) => value >= STRONG).sort(([, one], [, other]) => other - one);
  const words = (strong.length ? strong : Object.entries(signals).sort(([, one], [, other]) => other - one).slice(0, 1)).map(([name]) => LINK_SIGNALS[name] ?? plain(name));
  return words.length ? `Because: ${words.join(", ")}.` : "";
}
