// repetitions: observations of an entity that say the same; one of each pair can go.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { may } from "../../api.js";
import { number, percent } from "../../format.js";
import { useVerb } from "../../load.js";
import { Button } from "../../parts/button.js";
import { Section } from "../../parts/page.js";
import { retract } from "./observations.js";

const STEP = 5;

export function Repetitions({ entity, size, onChange }) {
  const [shown, setShown] = useState(STEP);
  const { value } = useVerb("find_repetitions", size > 1 ? { name: entity.title, thresholds: {} } : null);
  const pairs = [...(value?.pairs ?? [])].sort((one, other) => other.score - one.score);
  if (!pairs.length) return null;
  return html`<${Section} title="Says the same twice?" actions=${html`<span class="count">${number(pairs.length)}</span>`} flush>
    <ul class="list">
      ${pairs.slice(0, shown).map(
        ({ one, other, score }) => html`<li key=${one.id + other.id} class="entity-pair">
          <span class="faint small">${percent(score)} alike</span>
          ${[one, other].map(
            (memory) => html`<div class="row spread" key=${memory.id}>
              <p class="prose">${memory.content}</p>
              ${may("write") && html`<${Button} small icon="trash" look="quiet" label=${`Retract “${memory.content}”`} onClick=${() => retract(entity, memory, onChange)} />`}
            </div>`,
          )}
        </li>`,
      )}
    </ul>
    ${pairs.length > shown && html`<div class="card-body"><${Button} small onClick=${() => setShown(shown + 4 * STEP)}>Show more<//></div>`}
  <//>`;
}
