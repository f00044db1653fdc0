// turn: messages one after the other; the calls of tools between them are folded.
import { html } from "htm/preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "../../api.js";
import { count, dayOf, labelOf, momentOf, number } from "../../format.js";
import { Button } from "../../parts/button.js";
import { Chip } from "../../parts/chip.js";
import { Icon } from "../../parts/icon.js";
import { tellError } from "../../parts/toast.js";
import { href } from "../../router.js";
import { kindIcon, plain, typeName } from "../../words.js";

const LONGEST = 1200;
const TOOL_LONGEST = 500;
const TOOL_LINES = 8;
const SPEAKERS = { user: "You", assistant: "Agent", summary: "Summary", tool: "Tool" };
const clock = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

const isTool = ({ turn }) => turn.type === "tool" || turn.kind === "lore-call";

/** Messages as items: {key, day, turns, tools}. tools: its turns are calls of tools in a row. */
function itemsOf(turns) {
  const items = [];
  let day = "";
  for (const one of turns) {
    const last = items.at(-1);
    const today = dayOf(one.turn.created_at);
    if (last?.tools && isTool(one) && today === day) last.turns.push(one);
    else items.push({ key: one.turn.id, turns: [one], tools: isTool(one), day: today === day ? "" : today });
    day = today;
  }
  return items;
}

export function Turns({ turns, chosen }) {
  const list = useRef(null);
  useEffect(() => {
    if (chosen) list.current?.querySelector(".chosen")?.scrollIntoView({ block: "center" });
  }, [chosen]);
  return html`<ol class="turns" ref=${list}>
    ${itemsOf(turns).map(
      (item) => html`${item.day && html`<li key=${`${item.key} day`} class="turn-day"><span>${item.day}</span></li>`}
        <li key=${item.key} class="turn">
          ${item.tools ? html`<${Tools} item=${item} chosen=${chosen} />` : html`<${Said} turn=${item.turns[0].turn} isChosen=${item.key === chosen} />`}
          <${Learnt} memories=${item.turns.flatMap((one) => one.memories)} />
        </li>`,
    )}
  </ol>`;
}

function Said({ turn, isChosen }) {
  const { model, agent } = turn.metadata;
  return html`<article class=${`said-turn ${turn.type} ${isChosen ? "chosen" : ""}`} aria-label=${SPEAKERS[turn.type] ?? plain(turn.type)}>
    <header class="meta">
      <strong>${SPEAKERS[turn.type] ?? plain(turn.type)}</strong>
      ${agent && html`<span>${agent}</span>`}
      <${At} turn=${turn} />
      ${model && html`<span class="turn-model">${model}</span>`}
    </header>
    <${Words} turn=${turn} longest=${LONGEST} />
  </article>`;
}

function At({ turn }) {
  const at = new Date(turn.created_at * 1000);
  return html`<a href=${href("memory", turn.id)} title=${momentOf(turn.created_at)}><time datetime=${at.toISOString()}>${clock.format(at)}</time></a>`;
}

/** The beginning of a text: at most `longest` characters and `lines` lines. */
function beginning(text, longest, lines) {
  const first = text.split("\n").slice(0, lines).join("\n");
  const space = first.lastIndexOf(" ", longest);
  const cut = first.length > longest ? first.slice(0, space > longest / 2 ? space : longest) : first;
  return cut.length < text.length ? `${cut} …` : text;
}

/** A text, cut where it is long, with a way to all of it. */
function Words({ turn, longest, lines }) {
  const [whole, setWhole] = useState(null);
  const length = turn.metadata.full_length || turn.content.length;
  const short = beginning(turn.content, longest, lines);
  const isCut = whole === null && (turn.metadata.full_length || short !== turn.content);
  const open = async () => {
    if (!turn.metadata.full_length) return setWhole(turn.content);
    const { value, error } = await call("full_texts", { ids: [turn.id] });
    return error ? tellError(error) : setWhole(value[turn.id] ?? turn.content);
  };
  return html`<div class="prose turn-text">${whole ?? short}</div>
    ${isCut && html`<div><${Button} small onClick=${open}>Show all ${number(length)} characters<//></div>`}`;
}

function Tools({ item, chosen }) {
  const turns = item.turns.map((one) => one.turn);
  const failed = turns.filter((turn) => turn.metadata.failed).length;
  const names = [...new Set(turns.map(toolName))];
  const isChosen = turns.some((turn) => turn.id === chosen);
  return html`<details class="tools" open=${isChosen}>
    <summary>
      <${Icon} name="gear" size="14" />
      <span class="cut">${count(turns.length, "tool call")}: ${names.join(", ")}</span>
      ${failed > 0 && html`<${Chip} tone="warn">${failed} failed<//>`}
    </summary>
    <ul>
      ${turns.map(
        (turn) => html`<li key=${turn.id} class=${turn.id === chosen ? "chosen" : ""}>
          <div class="meta"><strong>${toolName(turn)}</strong><${At} turn=${turn} />${turn.metadata.failed && html`<${Chip} tone="warn">Failed<//>`}</div>
          <div class="mono"><${Words} turn=${turn} longest=${TOOL_LONGEST} lines=${TOOL_LINES} /></div>
        </li>`,
      )}
    </ul>
  </details>`;
}

const toolName = (turn) => turn.metadata.tool || (turn.kind === "lore-call" ? "Lore" : "Tool");

function Learnt({ memories }) {
  const unique = [...new Map(memories.map((memory) => [memory.id, memory])).values()];
  if (!unique.length) return html`<div class="turn-learnt"></div>`;
  return html`<aside class="turn-learnt" aria-label="Learnt from this">
    <h3>Learnt from this</h3>
    <ul class="walk">
      ${unique.map(
        (memory) => html`<li key=${memory.id}><a href=${href("memory", memory.id)} title=${typeName(memory.type || memory.kind)}>
          <${Icon} name=${kindIcon(memory.kind)} size="14" /><span class="grow">${labelOf(memory, 140)}</span>
        </a></li>`,
      )}
    </ul>
  </aside>`;
}
