// that-day: what happened on a day, from the journal.
import { html } from "htm/preact";
import { useRef, useState } from "preact/hooks";
import { call } from "../../api.js";
import { number } from "../../format.js";
import { useLoad } from "../../load.js";
import { Button } from "../../parts/button.js";
import { Section } from "../../parts/page.js";
import { Empty, Loaded } from "../../parts/states.js";
import { Group, grouped } from "../home/activity.js";
import { secondsOf } from "./days.js";

const PAGE = 500;
const MOST_PAGES = 20;
const STEP = 12;
const COUNTS = [["learnt", "learnt"], ["changed", "changed"], ["replaced", "replaced"], ["forgotten", "forgotten"], ["restored", "brought back"], ["turns", "messages"]];

export function ThatDay({ day, counts }) {
  const [shown, setShown] = useState(STEP);
  const journal = useRef(null);
  const from = useLoad((aborts) => entriesOf(day, journal, aborts), day);
  const figures = COUNTS.filter(([name]) => counts?.[name]);
  return html`<${Section} title="What happened that day" flush>
    ${figures.length > 0 && html`<p class="soft small timeline-counts">${figures.map(([name, text]) => html`<span key=${name}><b>${number(counts[name])}</b> ${text}</span>`)}</p>`}
    <${Loaded} from=${from} lines="5">
      ${({ entries, labels, reached }) => {
        const groups = grouped(entries);
        if (!groups.length) return html`<${Empty} icon="clock" title=${reached ? "A quiet day" : "Too far back"}><p>${reached ? "Nothing was learnt or changed." : "More has happened since than this page reads."}</p><//>`;
        return html`<ol class="happened">${groups.slice(0, shown).map((group) => html`<${Group} key=${group.batch} group=${group} labels=${labels} />`)}</ol>
          ${groups.length > shown && html`<div class="padded-more"><${Button} small onClick=${() => setShown(shown + 4 * STEP)}>Show more (${number(groups.length - shown)})<//></div>`}`;
      }}
    <//>
  <//>`;
}

/** The entries of a day. The journal is read backwards as far as needed; what was read stays for the next day. */
async function entriesOf(day, kept, signal) {
  const [begin, end] = secondsOf(day);
  const newest = await call("activity", { limit: 1 }, { signal });
  if (newest.error) return newest;
  const seq = newest.value.entries[0]?.seq ?? 0;
  if (kept.current?.seq !== seq) kept.current = { seq, entries: [], labels: {}, cursor: "", more: true, pages: 0 };
  const read = kept.current;
  while (read.more && read.pages < MOST_PAGES && !(read.entries.at(-1)?.at < begin)) {
    const { value, error } = await call("activity", { limit: PAGE, cursor: read.cursor }, { signal });
    if (error) return { error };
    read.entries.push(...value.entries);
    Object.assign(read.labels, value.labels);
    Object.assign(read, { cursor: value.cursor, more: value.more, pages: read.pages + 1 });
  }
  const reached = !read.more || read.entries.at(-1)?.at < begin;
  return { value: { entries: read.entries.filter(({ at }) => at >= begin && at <= end), labels: read.labels, reached } };
}
