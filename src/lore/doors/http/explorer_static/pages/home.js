// home: how the memory is doing: its health, what was learnt today, what happened, how it grows and fades.
import { html } from "htm/preact";
import { composing } from "../compose.js";
import { count, dayStart, number } from "../format.js";
import { useVerb } from "../load.js";
import { gistOf } from "../parts/account.js";
import { Button } from "../parts/button.js";
import { Icon } from "../parts/icon.js";
import { MemoryList } from "../parts/memory.js";
import { Page, Section } from "../parts/page.js";
import { Empty, Failed, Loaded, Loading } from "../parts/states.js";
import { Time } from "../parts/time.js";
import { href } from "../router.js";
import { Activity } from "./home/activity.js";
import { Curves } from "./home/curves.js";
import { Health } from "./home/health.js";

const SAID = ["turn", "session", "lore-call", "account"];
const SHOWN = 6;
const ENDED = 4;

export default function Home() {
  const status = useVerb("status");
  const add = html`<${Button} look="main" icon="plus" onClick=${() => composing.set({})}>Add a memory<//>`;
  if (status.error && !status.value) return html`<${Page} title="Home"><${Failed} error=${status.error} retry=${status.reload} /><//>`;
  if (!status.value) return html`<${Page} title="Home"><${Loading} lines="8" /><//>`;
  const { counts, last_run: run } = status.value;
  if (!counts.memories && !counts.forgotten) return html`<${Welcome} />`;
  return html`<${Page} title="Home" heading=${greeting()} about=${[sentenceOf(counts), run?.learnt && `Learnt last: ${run.learnt}.`].filter(Boolean).join(" ")} actions=${add}>
    <${Health} status=${status.value} />
    <div class="home-grid">
      <div class="stack"><${Ended} /><${Learnt} /><${Activity} /></div>
      <${Curves} />
    </div>
  <//>`;
}

function greeting() {
  const hour = new Date().getHours();
  if (hour < 5) return "Good night";
  if (hour < 12) return "Good morning";
  return hour < 18 ? "Good afternoon" : "Good evening";
}

function sentenceOf({ memories, projects, kinds }) {
  const known = memories - SAID.reduce((sum, kind) => sum + (kinds[kind] ?? 0), 0);
  const where = Object.keys(projects).length ? ` in ${count(Object.keys(projects).length, "project")}` : "";
  const heard = kinds.session ? count(kinds.session, "conversation") : "";
  const learnt = known || !heard ? count(known, "thing") : "";
  return `Lore remembers ${[heard, learnt].filter(Boolean).join(" and ")}${where}.`;
}

function Ended() {
  const { value } = useVerb("browse", { where: { kinds: ["account"] }, limit: ENDED });
  if (!value?.memories.length) return null;
  const all = html`<a class="link small" href=${href("sessions")}>All sessions</a>`;
  return html`<${Section} title="How the last conversations ended" actions=${all} flush>
    <ul class="list">
      ${value.memories.map((one) => html`<li key=${one.id}><a class="memory-row" href=${href("memory", one.id)}>
        <${Icon} name="chat" size="16" />
        <span class="grow"><strong>${one.title}</strong><p>${gistOf(one)}</p></span>
        <span class="side-note"><${Time} at=${one.created_at} /></span>
      </a></li>`)}
    </ul>
  <//>`;
}

function Learnt() {
  const today = useVerb("browse", { where: { created_after: dayStart(), other_kinds: SAID }, limit: SHOWN, total: true });
  const week = useVerb("browse", today.value?.memories.length === 0 ? { where: { created_after: dayStart(6), other_kinds: SAID }, limit: SHOWN, total: true } : null);
  const source = week.value ? week : today;
  const title = week.value?.memories.length ? "Learnt this week" : "Learnt today";
  const days = week.value ? "7" : "1";
  const all = source.value?.total > SHOWN && html`<a class="link small" href=${href("search", { days })}>All ${number(source.value.total)}</a>`;
  return html`<${Section} title=${title} actions=${all} flush class="learnt">
    <${Loaded} from=${source} lines="4">
      ${({ memories }) => memories.length
        ? html`<${MemoryList} memories=${memories} />`
        : html`<${Empty} icon="sleep" title="A quiet week"><p>Nothing new was learnt in the last seven days.</p><//>`}
    <//>
  <//>`;
}

function Welcome() {
  return html`<${Page} title="Welcome to Lore" about="A long-term memory for your agents. It is empty, and fills by itself as you work.">
    <div class="welcome">
      <div class="card padded stack tight">
        <${Icon} name="chat" size="22" />
        <h2>Let an agent remember</h2>
        <p class="soft">Run <code>lore install</code> once. From then on your agents find here what you told them before.</p>
      </div>
      <div class="card padded stack tight">
        <${Icon} name="download" size="22" />
        <h2>Bring your conversations</h2>
        <p class="soft">Run <code>lore ingest</code>: it reads the transcripts of your agents and keeps what lasts.</p>
      </div>
      <div class="card padded stack tight">
        <${Icon} name="plus" size="22" />
        <h2>Write the first memory</h2>
        <p class="soft">A preference, a decision, a fact: anything that should still be known next week.</p>
        <div class="row"><${Button} look="main" icon="plus" onClick=${() => composing.set({})}>Add a memory<//></div>
      </div>
    </div>
  <//>`;
}
