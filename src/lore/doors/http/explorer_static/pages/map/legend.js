// legend: what the colours mean; each one leads to its part of the map.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { number, oneLine } from "../../format.js";
import { Icon } from "../../parts/icon.js";

const SHOWN = 7;

export function Legend({ model, shown, colours, onPick }) {
  const [all, setAll] = useState(false);
  const nodesOf = (value) => {
    const known = new Set(colours.legend.map((one) => one.value));
    const fits = (node) => (value === null ? !known.has(node[colours.field]) : node[colours.field] === value);
    return [...model.nodes.keys()].filter((at) => shown.nodes[at] && fits(model.nodes[at]));
  };
  const rows = all ? colours.legend : colours.legend.slice(0, SHOWN);
  return html`<div class="map-legend" role="group" aria-label="What the colours mean">
    ${rows.map(
      ({ value, name, colour, count }) => html`<button type="button" key=${value} title="Show this part" onClick=${() => onPick(nodesOf(value))}>
        <span class="map-dot" style=${{ background: colour }}></span><span class="cut">${oneLine(name, 40)}</span><span class="faint">${number(count)}</span>
      </button>`,
    )}
    ${colours.legend.length > SHOWN &&
    html`<button type="button" class="faint" onClick=${() => setAll(!all)}><${Icon} name=${all ? "above" : "below"} size="13" />${all ? "Fewer" : `${colours.legend.length - SHOWN} more`}</button>`}
  </div>`;
}
