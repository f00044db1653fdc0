// origin: where a memory comes from: the messages it was learnt from, or who stored it.
import { html } from "htm/preact";
import { oneLine } from "../../format.js";
import { useVerb } from "../../load.js";
import { Icon } from "../../parts/icon.js";
import { Section } from "../../parts/page.js";
import { Time } from "../../parts/time.js";
import { href } from "../../router.js";
import { typeName } from "../../words.js";

const DERIVED = "derived_from";
const SHOWN = 5;
const WAYS = {
  observed: "Somebody stored it on purpose",
  distilled: "Lore learnt it by itself",
  transcript: "It was said in a conversation",
};

export function Origin({ reading }) {
  const { memory, links, parent } = reading;
  const sources = links.filter((link) => link.type === DERIVED && link.source === memory.id).map((link) => link.target);
  const { value: readings = [] } = useVerb("read_many", sources.length ? { ids: sources.slice(0, SHOWN) } : null);
  const isTurn = memory.kind === "turn";
  return html`<${Section} title="Where it comes from">
    <div class="stack tight">
      <p class="soft">${wayOf(memory)}.</p>
      ${readings.map(({ memory: turn, parent: session }) => html`<${Said} key=${turn.id} turn=${turn} session=${session} />`)}
      ${sources.length > SHOWN && html`<p class="small soft">And ${sources.length - SHOWN} more messages.</p>`}
      ${isTurn && parent && html`<p><a href=${href("sessions", parent, { turn: memory.id })}>Read it in its conversation</a></p>`}
      ${memory.kind === "session" && html`<p><a href=${href("sessions", memory.id)}>Read the conversation</a></p>`}
    </div>
  <//>`;
}

function wayOf(memory) {
  const by = memory.author ? ` by ${memory.author}` : "";
  const from = memory.source ? ` (${memory.source})` : "";
  return (WAYS[memory.source_type] ?? `Its source is “${memory.source_type}”`) + by + from;
}

function Said({ turn, session }) {
  return html`<figure class="said">
    <blockquote class="quote prose">${oneLine(turn.content, 400)}</blockquote>
    <figcaption class="meta">
      <span><${Icon} name="message" size="13" />${typeName(turn.type)}</span><${Time} at=${turn.created_at} />
      <a class="link" href=${session ? href("sessions", session, { turn: turn.id }) : href("memory", turn.id)}>Open the conversation</a>
    </figcaption>
  </figure>`;
}
