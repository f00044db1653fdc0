// sections: the settings of one section, or those that a reader looks for.
import { html } from "htm/preact";
import { Section } from "../../parts/page.js";
import { Empty } from "../../parts/states.js";
import { nameOf, WEIGHTS } from "./names.js";
import { Setting } from "./setting.js";
import { Weights } from "./weights.js";

const isOfWeights = ({ name }) => WEIGHTS.some((group) => group.includes(name));

export function SettingSection({ title, settings, drafts }) {
  const groups = WEIGHTS.map((names) => names.map((name) => settings.find((one) => one.name === name)).filter(Boolean)).filter((group) => group.length);
  const others = settings.filter((one) => !isOfWeights(one));
  return html`<${Section} title=${title} flush>
    ${groups.map((group) => html`<${Weights} key=${group[0].name} settings=${group} drafts=${drafts} />`)}
    <ul class="list">${others.map((one) => html`<li key=${one.name}><${Setting} setting=${one} drafts=${drafts} /></li>`)}</ul>
  <//>`;
}

/** Settings with the text in their name, key or help; own: only those that are not the default. */
export function Found({ view, params, drafts }) {
  const words = (params.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (one) => words.every((word) => `${nameOf(one)} ${one.name} ${one.key} ${one.help}`.toLowerCase().includes(word));
  const found = view.settings.filter((one) => fits(one) && (!params.own || one.origin !== "default" || one.name in drafts.all));
  if (!found.length) return html`<${Empty} icon="gear" title=${params.own ? "Everything is as Lore came" : "No setting fits"}><p>${params.own ? "No setting differs from its default." : "Try another word."}</p><//>`;
  const sections = [...new Set(found.map((one) => one.section))];
  return sections.map(
    (section) => html`<${Section} key=${section} title=${section} flush>
      <ul class="list">${found.filter((one) => one.section === section).map((one) => html`<li key=${one.name}><${Setting} setting=${one} drafts=${drafts} /></li>`)}</ul>
    <//>`,
  );
}
