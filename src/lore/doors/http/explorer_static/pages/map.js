// map: everything and how it hangs together.
import { html } from "htm/preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { call } from "../api.js";
import { useKeys } from "../keys.js";
import { onEvent } from "../live.js";
import { useLoad } from "../load.js";
import { Button } from "../parts/button.js";
import { Drawer } from "../parts/drawer.js";
import { Glance } from "../parts/glance.js";
import { Page } from "../parts/page.js";
import { useTyped } from "../parts/search-field.js";
import { Empty, Failed, Loading, Notice } from "../parts/states.js";
import { useNarrow } from "../parts/width.js";
import { href, setParams } from "../router.js";
import { useSignal } from "../signal.js";
import { isDark, theme } from "../theme.js";
import { Canvas } from "./map/canvas.js";
import { coloursOf } from "./map/colours.js";
import { Legend } from "./map/legend.js";
import { MapList } from "./map/list.js";
import { filtered, modelOf, TREE } from "./map/model.js";
import { Tools } from "./map/tools.js";

const MOST_NODES = 10_000;
const MOST_HITS = 200;
const LIVE_MILLISECONDS = 1500;
const PHONE = "(max-width: 40rem)";
const listOf = (text) => (text ? text.split(",") : []);

export default function MapPage({ route: { params } }) {
  const [text, typed, setTyped] = useTyped(params.q ?? "", (q) => setParams({ q }));
  const from = useMap(params);
  const model = useMemo(() => from.value && modelOf(from.value), [from.value]);
  const found = useHits(text);
  if (!model) {
    return html`<${Page} title="Map">${from.error ? html`<${Failed} error=${from.error} retry=${from.reload} />` : html`<${Loading} lines="8" label="Loading the map" />`}<//>`;
  }
  if (!model.nodes.length && !params.project && !params.kind) return html`<${Nothing} />`;
  return html`<${Shown} model=${model} params=${params} found=${found} typed=${typed} setTyped=${setTyped} />`;
}

function Shown({ model, params, found, typed, setTyped }) {
  const phone = useNarrow(PHONE);
  const narrow = useNarrow();
  const [failed, setFailed] = useState(false);
  const handle = useRef(null);
  useSignal(theme);
  const dark = isDark();
  const view = failed || (params.view ?? (phone ? "list" : "map")) === "list" ? "list" : "map";
  const tree = model.byId.get(params.tree) ?? -1;
  const shown = useMemo(
    () => filtered(model, { projects: listOf(params.project).map((one) => (one === "-" ? "" : one)), kinds: listOf(params.kind), links: listOf(params.link), trees: Boolean(params.trees), tree }),
    [model, params.project, params.kind, params.link, params.trees, tree],
  );
  const colours = useMemo(() => coloursOf(model, params.by, dark), [model, params.by, dark]);
  const hits = useMemo(() => found && found.map((id) => model.byId.get(id)).filter((node) => node !== undefined && shown.nodes[node]), [found, model, shown]);
  const chosen = model.byId.get(params.at) ?? -1;
  const choose = (id) => setParams({ at: id });
  useKeys([
    { keys: "v", label: "Map or list", group: "Map", run: () => setParams({ view: view === "list" ? "map" : "list" }) },
    { keys: "Escape", run: () => (params.at ? choose("") : false) },
  ]);
  const more = ({ memory, children, parent }) => (children.length > 0 || parent) && html`<${OnlyTree} model=${model} id=${memory.id} params=${params} />`;
  const glance = html`<${Glance} id=${params.at} onWalk=${choose} more=${more} />`;

  return html`<${Page} title="Map" width="full" bare>
    <div class="map-page">
      <${Tools} model=${model} shown=${shown} params=${params} view=${view} typed=${typed} setTyped=${setTyped} hits=${hits}
        onEnter=${() => hits?.length && handle.current?.fit(hits.slice(0, 40))} />
      ${failed && html`<div class="map-notice"><${Notice} tone="warn" icon="warning">This browser cannot draw the map (it has no WebGL). Here is the list.<//></div>`}
      <div class="map-body">
        ${view === "list"
          ? html`<${MapList} model=${model} shown=${shown} hits=${hits} colours=${colours} chosen=${params.at} onChoose=${choose} />`
          : html`<div class="map-stage">
              <${Canvas} model=${model} shown=${shown} colours=${colours} dark=${dark} hits=${hits} chosen=${chosen} handle=${handle}
                onChoose=${(node) => choose(node < 0 ? "" : model.nodes[node].id)} onFail=${() => setFailed(true)} />
              <${Legend} model=${model} shown=${shown} colours=${colours} onPick=${(nodes) => handle.current?.fit(nodes)} />
            </div>`}
        ${params.at && !narrow &&
        html`<aside class="map-side" aria-label="The chosen memory">
          <${Button} class="map-close" icon="close" look="quiet" small label="Close" onClick=${() => choose("")} />
          ${glance}
        </aside>`}
      </div>
    </div>
    ${params.at && narrow && html`<${Drawer} title="Memory" onClose=${() => choose("")}>${glance}<//>`}
  <//>`;
}

function OnlyTree({ model, id, params }) {
  if (params.tree) return html`<${Button} small icon="map" onClick=${() => setParams({ tree: "" })}>Show everything<//>`;
  const inTree = model.byId.has(id) && model.near[model.byId.get(id)].some((link) => model.links[link].kind === TREE);
  return inTree && html`<${Button} small icon="tree" onClick=${() => setParams({ tree: id })}>Only its tree<//>`;
}

function Nothing() {
  return html`<${Page} title="Map">
    <${Empty} icon="map" title="There is nothing to draw yet">
      <p>Every memory becomes a dot, and every link a line. Add a memory with <kbd>n</kbd>, or <a href=${href("backup")}>bring some in</a>.</p>
    <//>
  <//>`;
}

/** The knowledge map, and again some time after a change. Where it does not hold everything, filters ask for more. */
function useMap({ project, kind }) {
  const cut = useRef(false);
  const projects = listOf(project).filter((one) => one !== "-");
  const where = cut.current && (projects.length || kind) ? { projects, kinds: listOf(kind) } : {};
  const ask = async (signal) => {
    const answer = await call("knowledge_map", { limit: MOST_NODES, where }, { signal });
    if (answer.value?.total > answer.value?.nodes.length) cut.current = true;
    return answer;
  };
  const from = useLoad(ask, JSON.stringify(where), { live: false });
  useEffect(() => {
    let timer = 0;
    const stop = onEvent("change", () => (clearTimeout(timer), (timer = setTimeout(from.reload, LIVE_MILLISECONDS))));
    return () => (stop(), clearTimeout(timer));
  }, [from.reload]);
  return from;
}

/** The ids of the memories that fit, the best first; null without a question. */
function useHits(text) {
  const query = { text, limit: MOST_HITS, format: "ids", counted: false };
  const ask = async (signal) => {
    const { value, error } = await call("search", { query }, { signal });
    return error ? { error } : { value: value.hits.map((hit) => hit.memory.id) };
  };
  const { value } = useLoad(ask, text || null, { live: false });
  return text ? value ?? null : null;
}
