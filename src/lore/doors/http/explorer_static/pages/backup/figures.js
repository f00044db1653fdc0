// figures: what an import found: numbers first, examples and problems folded below.
import { html } from "htm/preact";
import { count, number } from "../../format.js";
import { plain } from "../../words.js";
import { figuresOf } from "./words.js";

const GROUPS = { new: "New", duplicates: "Duplicates", different: "Different here", links_left_out: "Links left out" };

export function Figures({ result }) {
  const { examples = {}, problems = [] } = result.memories ?? {};
  return html`<ul class="figures import-figures">
      ${figuresOf(result).map(
        ({ label, value, help, tone }) => html`<li key=${label} class=${`import-figure ${value ? tone : ""}`}>
          <span class="small">${label}</span><strong>${number(value)}</strong><span class="faint small">${help}</span>
        </li>`,
      )}
    </ul>
    ${Object.entries(examples).map(
      ([name, texts]) => html`<${Folded} key=${name} title=${`Examples: ${(GROUPS[name] ?? plain(name)).toLowerCase()}`} texts=${texts} />`,
    )}
    ${problems.length > 0 && html`<${Folded} title=${`What could not be read: ${count(problems.length, "problem")}`} texts=${problems} open />`}`;
}

function Folded({ title, texts, open = false }) {
  if (!texts.length) return null;
  return html`<details class="import-more" open=${open}>
    <summary>${title}</summary>
    <ul>${texts.map((text, at) => html`<li key=${at} class="prose">${text}</li>`)}</ul>
  </details>`;
}
