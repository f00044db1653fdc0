// list: the same memories as text, by group: for screen readers, for phones, and for those who like lists.
import { html } from "htm/preact";
import { useMemo, useState } from "preact/hooks";
import { count, number, oneLine, percent } from "../../format.js";
import { Button } from "../../parts/button.js";
import { Icon } from "../../parts/icon.js";
import { Bar } from "../../parts/score.js";
import { Empty } from "../../parts/states.js";
import { kindIcon, kindName } from "../../words.js";

const GROUPS = 20;
const MEMBERS = 8;
const HITS = 50;

export function MapList({ model, shown, hits, colours, chosen, onChoose }) {
  const [limit, setLimit] = useState(GROUPS);
  const groups = useMemo(() => (hits ? [] : groupsOf(model, shown)), [model, shown, hits]);
  const rows = { model, colours, chosen, onChoose };
  if (hits) {
    return html`<div class="map-list">
      ${hits.length === 0 && html`<${Empty} icon="search" title="Nothing on the map fits" />`}
      ${hits.length > 0 && html`<section class="card"><div class="card-head"><h2>${count(hits.length, "hit")}</h2></div><${Rows} nodes=${hits} first=${HITS} ...${rows} /></section>`}
    </div>`;
  }
  return html`<div class="map-list">
    ${groups.length === 0 && html`<${Empty} icon="filter" title="Nothing passes the filters" />`}
    ${groups.slice(0, limit).map(
      ({ id, label, members }) => html`<section class="card" key=${id} aria-label=${label}>
        <div class="card-head"><h2 class="cut">${label}</h2><span class="count">${number(members.length)}</span></div>
        <${Rows} nodes=${members} first=${MEMBERS} ...${rows} />
      </section>`,
    )}
    ${groups.length > limit && html`<div><${Button} onClick=${() => setLimit(limit + GROUPS)}>Show more groups (${number(groups.length - limit)})<//></div>`}
  </div>`;
}

function Rows({ model, nodes, first, colours, chosen, onChoose }) {
  const [limit, setLimit] = useState(first);
  return html`<ul class="map-rows">
      ${nodes.slice(0, limit).map((at) => {
        const node = model.nodes[at];
        return html`<li key=${node.id}>
          <button type="button" aria-pressed=${String(node.id === chosen)} onClick=${() => onChoose(node.id)}>
            <span class="map-dot" style=${{ background: colours.of[at] }}></span>
            <${Icon} name=${kindIcon(node.kind)} size="14" /><span class="hidden-text">${kindName(node.kind)}: </span>
            <span class="cut grow">${oneLine(node.label, 140)}</span>
            <span class="faint small">${model.near[at].length > 0 && count(model.near[at].length, "link")}</span>
            <span class="bar-line tree-relevance" title=${`${percent(node.relevance)} present`}><${Bar} share=${node.relevance} quiet /></span>
          </button>
        </li>`;
      })}
    </ul>
    ${nodes.length > limit && html`<div class="padded-more"><${Button} small look="quiet" onClick=${() => setLimit(limit + 50)}>Show more (${number(nodes.length - limit)})<//></div>`}`;
}

/** The memories in sight by group, the largest first; those without a group come last, together. */
function groupsOf(model, shown) {
  const labels = new Map(model.clusters.map(({ id, label }) => [id, label]));
  const groups = new Map();
  model.nodes.forEach(({ cluster }, at) => {
    if (!shown.nodes[at]) return;
    if (!groups.has(cluster)) groups.set(cluster, []);
    groups.get(cluster).push(at);
  });
  const byRelevance = (one, other) => model.nodes[other].relevance - model.nodes[one].relevance;
  const listed = [...groups].filter(([, members]) => members.length > 1).map(([id, members]) => ({ id, label: labels.get(id) ?? "Group", members: members.sort(byRelevance) }));
  const alone = [...groups.values()].filter((members) => members.length === 1).flat();
  listed.sort((one, other) => other.members.length - one.members.length);
  return alone.length ? [...listed, { id: "alone", label: "On their own", members: alone.sort(byRelevance) }] : listed;
}
