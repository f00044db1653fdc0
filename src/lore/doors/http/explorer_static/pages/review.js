// review: what Lore is unsure about, one decision at a time or many at once.
import { html } from "htm/preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { count } from "../format.js";
import { useKeys } from "../keys.js";
import { Button } from "../parts/button.js";
import { Check } from "../parts/field.js";
import { Page, Tabs } from "../parts/page.js";
import { Empty, Loaded } from "../parts/states.js";
import { setParams } from "../router.js";
import { Item } from "./review/item.js";
import { decide, KINDS, useInbox } from "./review/inbox.js";

export default function Review({ route }) {
  const inbox = useInbox();
  const kind = route.params.show ?? "";
  const items = inbox.items.filter((item) => !kind || item.kind === kind);
  const counts = inbox.counts;
  const tabs = [["", "Everything", sum(counts)], ...Object.entries(KINDS).map(([one, { many }]) => [one, many, counts[one] ?? 0])];
  return html`<${Page} title="Review" about="Lore decides small things by itself and asks you about the rest. Nothing here is urgent, and every decision can be changed later.">
    <${Tabs} label="What to review" options=${tabs} value=${kind} onChange=${(show) => setParams({ show })} />
    <${Loaded} from=${inbox} lines="6">${() => html`<${List} key=${kind} items=${items} more=${total(counts, kind) - items.length} inbox=${inbox} />`}<//>
  <//>`;
}

const sum = (counts) => Object.values(counts).reduce((all, one) => all + one, 0);
const total = (counts, kind) => (kind ? counts[kind] ?? 0 : sum(counts));

function List({ items, more, inbox }) {
  const [chosen, setChosen] = useState(new Set());
  const list = useRef(null);
  const marked = items.filter((item) => chosen.has(item.key));
  const judge = async (some, accepted) => {
    setChosen(new Set());
    await decide(some, accepted, inbox);
  };
  const toggle = (item) => setChosen((old) => new Set(old.has(item.key) ? [...old].filter((key) => key !== item.key) : [...old, item.key]));
  useItemKeys({ list, items, judge, toggle });
  if (!items.length) {
    return html`<${Empty} icon="check" title="All decided"><p>Contradictions, duplicates, possible links and suspicious texts appear here as Lore finds them.</p><//>`;
  }
  const all = marked.length === items.length;
  return html`<div class="stack">
    <div class="row spread wrap review-bar">
      <${Check} label=${marked.length ? `${marked.length} chosen` : "Choose all"} checked=${all} onChange=${(on) => setChosen(new Set(on ? items.map((item) => item.key) : []))} />
      ${marked.length > 0 &&
      html`<div class="row">
        <${Button} small icon="check" look="main" onClick=${() => judge(marked, true)}>Accept ${count(marked.length, "item")}<//>
        <${Button} small icon="close" onClick=${() => judge(marked, false)}>Reject ${count(marked.length, "item")}<//>
      </div>`}
    </div>
    <ul class="stack" ref=${list}>
      ${items.map((item) => html`<${Item} key=${item.key} item=${item} chosen=${chosen.has(item.key)} onToggle=${() => toggle(item)} onJudge=${(accepted) => judge([item], accepted)} />`)}
    </ul>
    ${inbox.value.complete === false && html`<p class="soft small">Older texts are still being looked through.</p>`}
    ${more > 0 && html`<p class="soft small">${count(more, "more item")} follow when these are decided.</p>`}
  </div>`;
}

function useItemKeys({ list, items, judge, toggle }) {
  const cards = () => [...(list.current?.querySelectorAll(".review-item") ?? [])];
  const at = () => cards().findIndex((card) => card.contains(document.activeElement));
  const waiting = useRef(-1);
  useEffect(() => {
    if (waiting.current < 0) return;
    cards()[Math.min(waiting.current, items.length - 1)]?.focus();
    waiting.current = -1;
  }, [items.length]);
  const move = (step) => {
    const all = cards();
    all[Math.min(Math.max(at() + step, 0), all.length - 1)]?.focus();
  };
  const withItem = (work) => () => {
    const index = Math.max(at(), 0);
    if (!items[index]) return false;
    waiting.current = index;
    return void work(items[index]);
  };
  useKeys([
    { keys: "ArrowDown, j", label: "Next", run: () => move(1) },
    { keys: "ArrowUp, k", label: "The one before", run: () => move(-1) },
    { keys: "a", label: "Accept", run: withItem((item) => judge([item], true)) },
    { keys: "r", label: "Reject", run: withItem((item) => judge([item], false)) },
    { keys: "x", label: "Choose for a decision about many", run: withItem((item) => ((waiting.current = -1), toggle(item))) },
  ]);
}
