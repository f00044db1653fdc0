// known: the memories of a day as they were then, each with what has become of it.
import { html } from "htm/preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { call } from "../../api.js";
import { labelOf, number, oneLine } from "../../format.js";
import { useLoad } from "../../load.js";
import { Button } from "../../parts/button.js";
import { Chip } from "../../parts/chip.js";
import { Icon } from "../../parts/icon.js";
import { Section } from "../../parts/page.js";
import { SearchField, useTyped } from "../../parts/search-field.js";
import { Empty, Loaded } from "../../parts/states.js";
import { Difference, Marked, wordsOf } from "../../parts/text.js";
import { Time } from "../../parts/time.js";
import { currentRoute, href, setParams } from "../../router.js";
import { kindIcon } from "../../words.js";
import { longDay, secondsOf, today } from "./days.js";
import { sinceThen } from "./since.js";

const PAGE = 30;

export function KnownThen({ day }) {
  const [text, typed, setTyped] = useTyped(currentRoute().params.q ?? "", (q) => setParams({ q }));
  const [further, setFurther] = useState([]);
  const first = useLoad((aborts) => page(day, text, "", aborts), `${day}\n${text}`);
  useEffect(() => setFurther([]), [first.value]);
  const pages = first.value ? [first.value, ...further] : [];
  const { cursor, more } = pages.at(-1) ?? {};
  const words = useMemo(() => wordsOf(text), [text]);
  const next = async () => {
    const { value } = await page(day, text, cursor);
    if (value) setFurther([...further, value]);
  };
  const total = first.value && html`<span class="count">${number(first.value.total)}</span>`;
  return html`<${Section} title=${day === today() ? "What is known now" : "What was known then"} actions=${total} flush>
    <div class="timeline-find"><${SearchField} label="Find in what was known" value=${typed} onInput=${setTyped} /></div>
    <${Loaded} from=${first} lines="7">
      ${() => {
        const items = pages.flatMap((one) => one.items);
        if (!items.length && !more) return html`<${Nothing} day=${day} text=${text} />`;
        return html`<ul class="list">${items.map((item) => html`<${Row} key=${item.then.id} item=${item} words=${words} />`)}</ul>
          ${more && html`<div class="padded-more"><${Button} small onClick=${next}>Show more<//></div>`}`;
      }}
    <//>
  <//>`;
}

function Row({ item: { then, now, since }, words }) {
  const label = labelOf(then);
  const more = then.title ? oneLine(then.content, 220) : "";
  return html`<li class="timeline-row">
    <${Icon} name=${kindIcon(then.kind)} size="16" />
    <div class="grow">
      <strong><a href=${href("memory", then.id)}><${Marked} text=${label} words=${words} /></a></strong>
      ${more && more !== label && html`<p class="soft"><${Marked} text=${more} words=${words} /></p>`}
      ${since && html`<div class="row wrap timeline-since">
        <${Chip} tone=${since.tone} icon=${since.icon}>${since.text}${since.at ? html` <${Time} at=${since.at} />` : ""}<//>
        ${since.by && html`<a class="link small" href=${href("memory", since.by)}>See what replaced it</a>`}
      </div>`}
      ${since?.edited && html`<details class="small timeline-diff"><summary>What changed</summary>
        ${then.title !== now.title && html`<p><${Difference} before=${then.title} after=${now.title} /></p>`}
        ${then.content !== now.content && html`<p><${Difference} before=${then.content} after=${now.content} /></p>`}
      </details>`}
    </div>
    <span class="faint small"><${Time} at=${then.created_at} exact /></span>
  </li>`;
}

function Nothing({ day, text }) {
  if (text) return html`<${Empty} icon="search" title=${`Nothing about “${text}” was known then`} />`;
  return html`<${Empty} icon="clock" title="Nothing was known then"><p>Lore had no memories on ${longDay(day)}. Choose a later day.</p><//>`;
}

/** One page of what was known, with the present state of each memory: {items: [{then, now, since}], cursor, more, total}. */
async function page(day, text, cursor, signal) {
  const [, end] = secondsOf(day);
  const known = await call("known_at", { at: end, text, limit: PAGE, cursor }, { signal });
  if (known.error) return known;
  const ids = known.value.memories.map((memory) => memory.id);
  const where = { ids, superseded: true, forgotten: true };
  const present = ids.length ? await call("select", { where, limit: ids.length }, { signal }) : { value: [] };
  if (present.error) return present;
  const byId = new Map(present.value.map((memory) => [memory.id, memory]));
  const items = known.value.memories.map((then) => ({ then, now: byId.get(then.id), since: sinceThen(then, byId.get(then.id)) }));
  return { value: { ...known.value, items } };
}
