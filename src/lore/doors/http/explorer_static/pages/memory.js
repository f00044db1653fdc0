// memory: one memory: its text, where it comes from, what it is tied to, how it changed and how present it is.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { call, may } from "../api.js";
import { forget, purge, rate, restore } from "../changes.js";
import { composing } from "../compose.js";
import { labelOf } from "../format.js";
import { useKeys } from "../keys.js";
import { useLoad } from "../load.js";
import { Button } from "../parts/button.js";
import { StateChips, TypeChip } from "../parts/chip.js";
import { Icon } from "../parts/icon.js";
import { Crumbs } from "../parts/memory.js";
import { Page } from "../parts/page.js";
import { Menu } from "../parts/picker.js";
import { Loaded } from "../parts/states.js";
import { Time } from "../parts/time.js";
import { tell } from "../parts/toast.js";
import { go, href } from "../router.js";
import { kindIcon, projectName } from "../words.js";
import { Below } from "./memory/below.js";
import { Edit } from "./memory/edit.js";
import { Facts } from "./memory/facts.js";
import { History } from "./memory/history.js";
import { Links } from "./memory/links.js";
import { Linking } from "./memory/linking.js";
import { Origin } from "./memory/origin.js";
import { Presence } from "./memory/presence.js";
import { Banner } from "./memory/banner.js";
import { Text } from "./memory/text.js";

export default function MemoryPage({ route }) {
  const id = route.rest[0] ?? "";
  const reading = useLoad((aborts) => read(id, aborts), id, { live: (ids) => ids.includes(id) });
  const { memory } = reading.value ?? {};
  if (!memory) return html`<${Page} title="Memory"><${Loaded} from=${reading} lines="8" /><//>`;
  return html`<${Shown} reading=${reading.value} reload=${reading.reload} />`;
}

/** The memory with its ties, also if it is forgotten: then without them. */
async function read(id, aborts) {
  const answer = await call("read", { id, use: false }, { signal: aborts });
  if (answer.error?.kind !== "NotFound") return answer;
  const where = { ids: [id], forgotten: true, superseded: true };
  const { value } = await call("browse", { where, limit: 1 }, { signal: aborts });
  const [memory] = value?.memories ?? [];
  const nothing = { relevance: 0, parent: null, breadcrumb: [], children: [], links: [], successor: null, citations: {} };
  return memory ? { value: { memory, ...nothing } } : answer;
}

function Shown({ reading, reload }) {
  const { memory } = reading;
  const [mode, setMode] = useState("");
  const gone = memory.forgotten_at != null;
  const actions = actionsOf(memory, setMode, reload);
  useKeys([
    { keys: "e", label: "Edit", run: () => (gone ? false : setMode("edit")) },
    { keys: "f", label: gone ? "Bring back" : "Forget", run: () => void (gone ? actions.restore() : actions.forget()) },
    { keys: "u", label: "Mark as useful", run: () => (gone ? false : void actions.rate(true)) },
    { keys: "Escape", run: () => (mode ? setMode("") : false) },
  ]);
  const close = () => (setMode(""), reload());
  return html`<${Page} title=${labelOf(memory)} bare>
    <header class="memory-head">
      <div class="grow">
        ${reading.breadcrumb.length > 0 && html`<${Crumbs} steps=${crumbsOf(reading)} />`}
        <h1 tabindex="-1">${labelOf(memory, 160)}</h1>
        <div class="meta">
          <span><${Icon} name=${kindIcon(memory.kind)} size="15" /><${TypeChip} memory=${memory} /></span>
          <${StateChips} memory=${memory} />
          <span>Learnt <${Time} at=${memory.created_at} /></span>
          ${memory.project && html`<a href=${href("search", { project: memory.project })}><${Icon} name="folder" size="13" />${projectName(memory.project)}</a>`}
        </div>
      </div>
      ${!gone && may("write") && html`<${Toolbar} memory=${memory} actions=${actions} setMode=${setMode} />`}
    </header>
    <${Banner} reading=${reading} actions=${actions} reload=${reload} />
    <div class="memory-body">
      <div class="stack">
        ${mode === "edit" ? html`<${Edit} memory=${memory} onDone=${close} />` : html`<${Text} memory=${memory} />`}
        <${Origin} reading=${reading} />
        <${Below} memory=${memory} count=${reading.children.length} />
        <${Links} reading=${reading} onAdd=${() => setMode("link")} reload=${reload} />
        <${History} memory=${memory} onUndone=${reload} />
      </div>
      <div class="stack">
        <${Presence} reading=${reading} />
        <${Facts} reading=${reading} />
      </div>
    </div>
    ${mode === "link" && html`<${Linking} memory=${memory} onDone=${close} />`}
  <//>`;
}

function Toolbar({ memory, actions, setMode }) {
  const more = [
    { text: "Replace by a newer one…", icon: "replace", run: () => composing.set({ replaces: memory }) },
    { text: "Add something below it…", icon: "plus", run: () => composing.set({ parent: memory.id, project: memory.project }) },
    { text: "Link to another…", icon: "link", run: () => setMode("link") },
    null,
    ...(memory.kind === "entity" ? [{ text: "Everything about it", icon: "entity", run: () => go(href("entities", memory.id)) }] : []),
    { text: "Show on the map", icon: "map", run: () => go(href("map", { at: memory.id })) },
    { text: "Show as a tree", icon: "tree", run: () => go(href("trees", memory.id)) },
    { text: "Copy its id", icon: "copy", run: actions.copy },
    null,
    { text: "Forget…", icon: "trash", danger: true, run: actions.forget },
  ];
  return html`<div class="row">
    <${Button} icon="up" label="Useful" onClick=${() => actions.rate(true)} />
    <${Button} icon="down" label="Not useful" onClick=${() => actions.rate(false)} />
    <${Button} icon="edit" onClick=${() => setMode("edit")}>Edit<//>
    <${Menu} label="More actions" actions=${more} />
  </div>`;
}

function actionsOf(memory, setMode, reload) {
  const then = async (work) => ((await work) && reload());
  return {
    rate: (useful) => then(rate(memory, useful)),
    forget: () => then(forget([memory])),
    restore: () => then(restore([memory])),
    purge: () => then(purge([memory])),
    copy: () => navigator.clipboard?.writeText(memory.id).then(() => tell("Copied."), () => tell(memory.id)),
  };
}

/** The way down to it; its own label is the heading. Only the parent has an address. */
function crumbsOf({ breadcrumb, parent }) {
  return breadcrumb.map((label, at) => (parent && at === breadcrumb.length - 1 ? [parent, label] : label));
}
