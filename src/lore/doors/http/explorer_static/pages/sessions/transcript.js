// transcript: one conversation from its first message to its last, with what was learnt from each beside it.
import { html } from "htm/preact";
import { useEffect, useState } from "preact/hooks";
import { call, may } from "../../api.js";
import { count, labelOf, momentOf, number } from "../../format.js";
import { useLoad } from "../../load.js";
import { Button, ButtonLink } from "../../parts/button.js";
import { Icon } from "../../parts/icon.js";
import { Account } from "../../parts/account.js";
import { MemoryList } from "../../parts/memory.js";
import { Page, Section } from "../../parts/page.js";
import { Failed, Loading } from "../../parts/states.js";
import { go, href } from "../../router.js";
import { clientName, projectName } from "../../words.js";
import { forgetSession } from "./forget.js";
import { Turns } from "./turn.js";

const PAGE = 100;

export function Transcript({ id, params }) {
  const [pages, setPages] = useState(1);
  const load = useLoad((aborts) => read(id, pages, aborts), JSON.stringify([id, pages]));
  const { value } = load;
  const chosen = params.turn;
  const isShown = !chosen || value?.turns.some(({ turn }) => turn.id === chosen);
  useEffect(() => {
    if (value?.more && !isShown && !load.loading) setPages(pages + 1);
  }, [value, isShown, load.loading]);
  const back = html`<${ButtonLink} icon="left" look="quiet" href=${href("sessions")}>All sessions<//>`;
  if (load.error && !value) return html`<${Page} title="Sessions" actions=${back}><${Failed} error=${load.error} retry=${load.reload} /><//>`;
  if (!value) return html`<${Page} title="Sessions" actions=${back}><${Loading} lines="10" /><//>`;
  const { session, turns, more, total } = value;
  const account = value.memories.find((one) => one.kind === "account");
  const memories = value.memories.filter((one) => one !== account);
  const forget = async () => (await forgetSession(session)) && go(href("sessions"));
  const actions = html`${back}${may("write") && html`<${Button} icon="trash" look="danger" onClick=${forget}>Forget…<//>`}`;
  return html`<${Page} title="Sessions" heading=${labelOf(session, 120)} actions=${actions}>
    <${Facts} session=${session} total=${total} />
    ${account && html`<${Section} title="What came of it"><${Account} account=${account} /><//>`}
    ${memories.length > 0 && html`<${Section} title="Learnt from the session as a whole" flush><${MemoryList} memories=${memories} /><//>`}
    <${Turns} turns=${turns} chosen=${isShown ? chosen : ""} />
    ${!total && html`<p class="soft">No message of it is kept.</p>`}
    ${more && html`<div class="row session-more">
      <${Button} disabled=${load.loading} onClick=${() => setPages(pages + 1)}>Show more<//>
      <span class="faint small">${number(turns.length)} of ${count(total, "message")}</span>
    </div>`}
  <//>`;
}

/** The first pages of a conversation as one value. */
async function read(session, pages, aborts) {
  let whole;
  for (let page = 0; page < pages && (!whole || whole.more); page += 1) {
    const { value, error } = await call("learnt", { session, limit: PAGE, cursor: whole?.cursor ?? "" }, { signal: aborts });
    if (error) return { error };
    whole = whole ? { ...value, memories: whole.memories, turns: [...whole.turns, ...value.turns] } : value;
  }
  return { value: whole };
}

function Facts({ session, total }) {
  const { folder, branch } = session.metadata;
  return html`<div class="meta session-meta">
    <span><${Icon} name="clock" size="14" />${momentOf(session.created_at)}</span>
    ${session.source && html`<span>${clientName(session.source)}</span>`}
    ${session.project &&
    html`<a href=${href("sessions", { project: session.project })} title=${folder || session.project}><${Icon} name="folder" size="14" /><span class="cut">${projectName(session.project)}</span></a>`}
    ${branch && html`<span>branch ${branch}</span>`}
    <span>${count(total, "message")}</span>
  </div>`;
}
