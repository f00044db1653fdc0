// list: all conversations, narrowed down by project, day and text.
import { html } from "htm/preact";
import { useEffect, useState } from "preact/hooks";
import { may } from "../../api.js";
import { count, labelOf } from "../../format.js";
import { useVerb } from "../../load.js";
import { gistOf } from "../../parts/account.js";
import { Button } from "../../parts/button.js";
import { Icon } from "../../parts/icon.js";
import { Page, Section } from "../../parts/page.js";
import { Picker } from "../../parts/picker.js";
import { SearchField, useTyped } from "../../parts/search-field.js";
import { Empty, Loaded } from "../../parts/states.js";
import { Marked, passageOf, wordsOf } from "../../parts/text.js";
import { Time } from "../../parts/time.js";
import { href, setParams } from "../../router.js";
import { clientName, projectName } from "../../words.js";
import { useSessions } from "./find.js";
import { ForgetMany } from "./forget.js";
import { Waiting } from "./waiting.js";

const NO_FILTERS = { q: "", project: "", day: "", more: "" };

export function SessionList({ params }) {
  const sessions = useSessions(params);
  const [forgetting, setForgetting] = useState(false);
  const isFiltered = params.q || params.project || params.day;
  const forget = may("write") && html`<${Button} icon="trash" onClick=${() => setForgetting(true)}>Forget…<//>`;
  return html`<${Page} title="Sessions" about="Your conversations with agents: what was said, and what Lore learnt from it." actions=${forget}>
    <${Filters} params=${params} />
    ${!isFiltered && html`<${Waiting} />`}
    <${Section} title=${isFiltered ? "Sessions that fit" : "All sessions"} flush>
      <${Loaded} from=${sessions} lines="8">
        ${({ rows, more }) => (rows.length ? html`<${Rows} rows=${rows} turns=${sessions.turns} params=${params} more=${more} />` : html`<${Nothing} filtered=${isFiltered} />`)}
      <//>
    <//>
    ${forgetting && html`<${ForgetMany} project=${params.project} day=${params.day} onClose=${() => setForgetting(false)} />`}
  <//>`;
}

function Filters({ params }) {
  const [, typed, setTyped] = useTyped(params.q ?? "", (q) => setParams({ q, more: "" }));
  useEffect(() => {
    if (!params.q) setTyped("");
  }, [params.q]);
  const { value: projects = {} } = useVerb("projects");
  const options = Object.keys(projects).filter(Boolean).sort().map((one) => [one, projectName(one)]);
  const isFiltered = params.q || params.project || params.day;
  return html`<div class="row wrap" role="group" aria-label="Filters">
    <${SearchField} label="What was it about?" value=${typed} onInput=${setTyped} />
    <${Picker} label="Project" icon="folder" single options=${options} value=${params.project ? [params.project] : []}
      onChange=${([project = ""]) => setParams({ project, more: "" })} />
    <input type="date" class="input session-day" aria-label="Day" title="Day" value=${params.day ?? ""}
      onChange=${(event) => setParams({ day: event.currentTarget.value, more: "" })} />
    ${isFiltered && html`<${Button} small look="quiet" onClick=${() => setParams(NO_FILTERS)}>Clear all<//>`}
  </div>`;
}

function Rows({ rows, turns, params, more }) {
  const words = params.q ? wordsOf(params.q) : undefined;
  const where = { kinds: ["account"], sessions: rows.map(({ session }) => session.session) };
  const { value } = useVerb("browse", { where, limit: 1_000 });
  const accounts = Object.fromEntries((value?.memories ?? []).map((one) => [`${one.source} ${one.session}`, one]));
  return html`<ul class="list">
      ${rows.map(({ session, passage }) => html`<li key=${session.id}><${Row} session=${session} passage=${passage} turns=${turns[session.id]} words=${words}
        account=${accounts[`${session.source} ${session.session}`]} /></li>`)}
    </ul>
    ${more && html`<div class="padded-more"><${Button} onClick=${() => setParams({ more: Number(params.more || 0) + 1 })}>Show more<//></div>`}`;
}

function Row({ session, passage, turns, words, account }) {
  const to = href("sessions", session.id, passage ? { turn: passage.id } : {});
  const label = labelOf(session);
  const said = passage ? passageOf(passage.content, words, 220) : words ? "" : gistOf(account);
  return html`<a class="memory-row" href=${to}>
    <${Icon} name="chat" size="16" />
    <span class="grow stack tight session-row">
      <strong><${Marked} text=${label} words=${words} /></strong>
      ${said && said !== label && html`<p><${Marked} text=${said} words=${words} /></p>`}
      <span class="meta">
        ${session.project && html`<span title=${session.project}><${Icon} name="folder" size="13" /><span class="cut">${projectName(session.project)}</span></span>`}
        ${session.source && html`<span>${clientName(session.source)}</span>`}
        ${turns != null && html`<span>${count(turns, "message")}</span>`}
      </span>
    </span>
    <span class="side-note"><${Time} at=${session.created_at} /></span>
  </a>`;
}

function Nothing({ filtered }) {
  if (filtered) {
    return html`<${Empty} icon="chat" title="No session fits">
      <p>Try fewer words, another day, or all projects.</p>
      <div class="row"><${Button} onClick=${() => setParams(NO_FILTERS)}>Show all sessions<//></div>
    <//>`;
  }
  return html`<${Empty} icon="chat" title="No sessions yet">
    <p>Lore reads the conversations of your agents by itself. Run <code>lore ingest</code> to read the earlier ones now.</p>
  <//>`;
}
