// weights: numbers that share one whole, as sliders, with a warning where they do not sum to 1.
import { html } from "htm/preact";
import { Button } from "../../parts/button.js";
import { Slider } from "../../parts/field.js";
import { Icon } from "../../parts/icon.js";
import { Bar } from "../../parts/score.js";
import { nameOf, originOf, textOf } from "./names.js";

const NEAR = 0.0005;
const rounded = (value) => Math.round(value * 1000) / 1000;

export function Weights({ settings, drafts }) {
  const numbers = settings.map((one) => Number(drafts.valueOf(one)) || 0);
  const sum = rounded(numbers.reduce((all, one) => all + one, 0));
  const isWhole = Math.abs(sum - 1) < NEAR;
  const problem = settings.map((one) => drafts.problems[one.name]).find(Boolean);
  const about = settings[0].help.slice(settings[0].help.indexOf(". ") + 2);
  const isOwn = settings.some((one, at) => numbers[at] !== one.default);
  const reset = () => settings.forEach((one) => drafts.set(one, textOf(one.default)));
  const even = () => {
    const shares = numbers.map((one) => rounded(one / sum));
    shares[0] = rounded(shares[0] + 1 - shares.reduce((all, one) => all + one, 0));
    settings.forEach((one, at) => drafts.set(one, String(shares[at])));
  };
  return html`<div class="weights" role="group" aria-label="Weights">
    <div class="row spread wrap">
      <p class="soft small">${about}</p>
      ${isOwn && html`<${Button} small look="quiet" icon="undo" onClick=${reset}>Defaults<//>`}
    </div>
    <div class="weights-sliders">
      ${settings.map(
        (one, at) => html`<div key=${one.name} class=${one.name in drafts.all ? "changed" : ""}>
          <${Slider} label=${nameOf(one)} value=${numbers[at]} text=${numbers[at].toFixed(2)} step="0.01" disabled=${!one.writable}
            title=${`${one.key}: ${one.help} ${originOf(one)}; default ${one.default}.`} onInput=${(value) => drafts.set(one, String(value))} />
        </div>`,
      )}
    </div>
    <div class=${`weights-sum ${isWhole ? "" : "off"}`} role="status">
      <div class="bar-line"><${Bar} share=${sum} /></div>
      ${isWhole
        ? html`<span class="row"><${Icon} name="check" size="15" />They sum to 1.</span>`
        : html`<span class="row"><${Icon} name="warning" size="15" /><span>They sum to ${sum.toFixed(2)}; scores are right only if they sum to 1.</span></span>
            ${sum > 0 && html`<div><${Button} small onClick=${even}>Make them sum to 1<//></div>`}`}
    </div>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
  </div>`;
}
