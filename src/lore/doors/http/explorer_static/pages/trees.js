// trees: topics with what belongs below them, to open level by level.
import { html } from "htm/preact";
import { useMemo, useState } from "preact/hooks";
import { count, labelOf } from "../format.js";
import { Button, ButtonLink, Segments } from "../parts/button.js";
import { Drawer } from "../parts/drawer.js";
import { Check } from "../parts/field.js";
import { Glance } from "../parts/glance.js";
import { Page } from "../parts/page.js";
import { SearchField, useTyped } from "../parts/search-field.js";
import { Empty, Failed, Loading } from "../parts/states.js";
import { wordsOf } from "../parts/text.js";
import { useNarrow } from "../parts/width.js";
import { go, href, setParams } from "../router.js";
import { useForest, useWay } from "./trees/forest.js";
import { useFound } from "./trees/found.js";
import { Tree } from "./trees/tree.js";

const SORTS = [["", "All"], ["fragment", "Topics"], ["entity", "Entities"], ["file", "Files"]];
const STEP = 100;

export default function Trees({ route: { rest: [top = ""], params } }) {
  const [limit, setLimit] = useState(STEP);
  const [text, typed, setTyped] = useTyped(params.q ?? "", (q) => setParams({ q }));
  const forest = useForest({ top, kind: params.kind ?? "", limit });
  const found = useFound(text, top);
  const narrow = useNarrow();
  const [shown, setShown] = useState(false);
  const chosen = params.at ?? "";
  const choose = (id, open) => (setParams({ at: id }), setShown(open));
  const trees = found.roots ?? (params.single || top ? forest.roots : forest.roots?.filter((one) => one.children_count > 0));
  const error = found.error ?? forest.error;
  const words = useMemo(() => wordsOf(text), [text]);
  const more = !found.roots && forest.roots?.length >= limit;
  const way = useWay(chosen, forest);
  const alone = ({ memory, children }) =>
    children.length > 0 && memory.id !== top && html`<${ButtonLink} small icon="tree" href=${href("trees", memory.id)}>Show alone<//>`;

  return html`<${Page}
    title=${top ? labelOf(forest.roots?.[0]?.memory ?? { content: "Tree" }) : "Trees"}
    about=${top ? "" : "Topics and entities, with what belongs below them."}
    actions=${top && html`<${ButtonLink} small icon="left" href=${href("trees")}>All trees<//>`}
  >
    <div class="row wrap tree-tools">
      <${SearchField} label=${top ? "Search in this tree" : "Search in all trees"} value=${typed} onInput=${setTyped} />
      ${!top && html`<${Segments} label="Which trees" options=${SORTS} value=${params.kind ?? ""} onChange=${(kind) => setParams({ kind })} />
        <${Check} label="Also single memories" checked=${Boolean(params.single)} onChange=${(on) => setParams({ single: on ? "1" : "" })} />`}
    </div>
    <div class="tree-page">
      <div class="card tree-card">
        ${error && !trees ? html`<${Failed} error=${error} retry=${forest.reload} />` : null}
        ${!trees && !error ? html`<div class="padded-more"><${Loading} lines="7" /></div>` : null}
        ${trees?.length === 0 && html`<${Nothing} text=${text} />`}
        ${trees?.length > 0 &&
        html`<${Tree}
          label=${text ? `Trees with “${text}”` : "Trees"} key=${text || params.kind} roots=${trees} childrenOf=${(id) => found.children?.get(id) ?? forest.childrenOf(id)}
          start=${[...(found.open ?? forest.start), ...way]} chosen=${chosen} words=${words} hits=${found.hits} load=${forest.load}
          onChoose=${choose} onOpen=${(id) => go(href("memory", id))}
        />`}
        ${more && html`<div class="padded-more"><${Button} small onClick=${() => setLimit(limit + STEP)}>Show more trees<//></div>`}
        ${found.cut && html`<p class="faint small padded-more">The best ${count(found.hits.size, "match", "matches")}. More words narrow it down.</p>`}
      </div>
      ${!narrow &&
      html`<aside class="card padded tree-side" aria-label="The chosen memory">
        ${chosen
          ? html`<${Glance} id=${chosen} more=${alone} onWalk=${(id) => choose(id, false)} />`
          : html`<${Empty} icon="tree" title="Choose a memory"><p>Its text and its neighbours appear here.</p><//>`}
      </aside>`}
    </div>
    ${narrow && shown && chosen &&
    html`<${Drawer} title="Memory" onClose=${() => setShown(false)}>
      <${Glance} id=${chosen} more=${alone} onWalk=${(id) => choose(id, true)} />
    <//>`}
  <//>`;
}

function Nothing({ text }) {
  if (text) return html`<${Empty} icon="search" title=${`Nothing in a tree fits “${text}”`}><p><a href=${href("search", { q: text })}>Search everywhere</a></p><//>`;
  return html`<${Empty} icon="tree" title="No trees yet">
    <p>Trees grow when an agent files memories under a topic, or learns something about a person or a thing.</p>
  <//>`;
}
