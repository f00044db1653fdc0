// tools: what the map shows, and in which colours.
import { html } from "htm/preact";
import { useMemo, useRef } from "preact/hooks";
import { count, number } from "../../format.js";
import { useKeys } from "../../keys.js";
import { Button, Segments } from "../../parts/button.js";
import { Chip } from "../../parts/chip.js";
import { Picker } from "../../parts/picker.js";
import { SearchField } from "../../parts/search-field.js";
import { setParams } from "../../router.js";
import { kindsName, plain } from "../../words.js";
import { WAYS } from "./colours.js";
import { tally } from "./model.js";

const LINK_NAMES = { hierarchical: "Trees", associative: "Related", temporal: "One after the other", supersedes: "Replacements", relation: "Relations" };
const listOf = (text) => (text ? text.split(",") : []);

export function Tools({ model, shown, params, view, typed, setTyped, hits, onEnter }) {
  const field = useRef(null);
  const options = useMemo(
    () => ({
      project: tally(model.nodes, "project").map(([name, times]) => [name || "-", name || "No project", number(times)]),
      kind: tally(model.nodes, "kind").map(([kind, times]) => [kind, kindsName(kind), number(times)]),
      link: tally(model.links, "kind").map(([kind, times]) => [kind, LINK_NAMES[kind] ?? plain(kind), number(times)]),
    }),
    [model],
  );
  useKeys([{ keys: "f", label: "Find on the map", group: "Map", run: () => field.current.focus() }]);
  const picker = (name, label, icon) => html`<${Picker}
    label=${label} icon=${icon} options=${options[name]} value=${listOf(params[name])} onChange=${(value) => setParams({ [name]: value.join(",") })} />`;
  const onKeyDown = (event) => {
    if (event.key === "Enter") onEnter();
    else if (event.key === "Escape" && typed) setTyped("");
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return html`<header class="map-tools">
    <div class="row map-title">
      <h1 tabindex="-1">Map</h1>
      <span class="faint small">${tallyText(model, shown)}</span>
    </div>
    <div class="row wrap">
      <${SearchField} label="Find on the map" value=${typed} onInput=${setTyped} inputRef=${field} onKeyDown=${onKeyDown} />
      ${hits && html`<span class="small soft" role="status">${hits.length ? `${count(hits.length, "hit")}, lit` : "Nothing fits"}</span>`}
      ${picker("project", "Project", "folder")} ${picker("kind", "Kind", "note")} ${picker("link", "Links", "link")}
      <${Button} small icon="tree" aria-pressed=${String(Boolean(params.trees))} onClick=${() => setParams({ trees: params.trees ? "" : "1", tree: "" })}>Trees only<//>
      ${params.tree && html`<${Chip} tone="accent" icon="tree" removeLabel="Show everything" onRemove=${() => setParams({ tree: "" })}>One tree<//>`}
      <span class="grow"></span>
      ${view === "map" && html`<${Segments} label="Colours by" options=${WAYS} value=${params.by || "cluster"} onChange=${(by) => setParams({ by: by === "cluster" ? "" : by })} />`}
      <${Segments} label="Show as" options=${[["map", "Map"], ["list", "List"]]} value=${view} onChange=${(next) => setParams({ view: next })} />
    </div>
  </header>`;
}

function tallyText(model, shown) {
  const whole = model.total > model.nodes.length ? ` of ${number(model.total)}, the most present` : "";
  const part = shown.nodeCount < model.nodes.length ? `${number(shown.nodeCount)} of ` : "";
  return `${part}${count(model.nodes.length, "memory", "memories")}${whole} · ${count(shown.linkCount, "link")}`;
}
