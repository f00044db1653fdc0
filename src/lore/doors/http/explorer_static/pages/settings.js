// settings: how Lore works, where it reads, who may use it.
import { html } from "htm/preact";
import { may } from "../api.js";
import { useGet } from "../load.js";
import { Page } from "../parts/page.js";
import { Empty, Loaded } from "../parts/states.js";
import { href, setParams } from "../router.js";
import { useDrafts } from "./settings/drafts.js";
import { Found, SettingSection } from "./settings/sections.js";
import { Finder, Restart, Unsaved } from "./settings/frame.js";
import { Namespaces } from "./settings/namespaces.js";
import { Sources } from "./settings/sources.js";
import { Tokens } from "./settings/tokens.js";

const OTHERS = { Sources, Namespaces, Tokens };
const ABOUT = "How Lore ranks, reads and forgets, and who may use it.";

export default function Settings({ route }) {
  const load = useGet(may("admin") ? "settings" : null, { live: false });
  if (!may("admin")) {
    return html`<${Page} title="Settings" about=${ABOUT}>
      <${Empty} icon="lock" title="Only for administrators"><p>Sign in with a token that has the right “admin” to see and change settings.</p><//>
    <//>`;
  }
  return html`<${Page} title="Settings" about=${ABOUT}><${Loaded} from=${load} lines="10">${(view) => html`<${Shown} view=${view} load=${load} params=${route.params} />`}<//><//>`;
}

function Shown({ view, load, params }) {
  const drafts = useDrafts(view, load);
  const sections = [...new Set(view.settings.map((one) => one.section))];
  const show = sections.includes(params.show) || OTHERS[params.show] ? params.show : sections[0];
  const Other = OTHERS[show];
  return html`<${Restart} view=${view} />
    <div class="settings">
      <${Sections} sections=${sections} show=${params.q || params.own ? "" : show} drafts=${drafts} view=${view} />
      <div class="stack settings-body">
        <${Finder} params=${params} />
        ${params.q || params.own
          ? html`<${Found} view=${view} params=${params} drafts=${drafts} />`
          : Other
            ? html`<${Other} view=${view} />`
            : html`<${SettingSection} title=${show} settings=${view.settings.filter((one) => one.section === show)} drafts=${drafts} />`}
      </div>
    </div>
    <${Unsaved} drafts=${drafts} />`;
}

/** The sections at the left; on a phone a list to choose from. */
function Sections({ sections, show, drafts, view }) {
  const changed = (section) => view.settings.filter((one) => one.section === section && one.name in drafts.all).length;
  const names = [...sections, ...Object.keys(OTHERS)];
  return html`<nav class="settings-nav" aria-label="Sections of the settings">
      ${names.map(
        (name) => html`<a key=${name} class=${`nav-link ${name === "Sources" ? "apart" : ""}`} href=${href("settings", { show: name })} aria-current=${name === show ? "true" : undefined}>
          <span>${name}</span>${changed(name) > 0 && html`<span class="count accent">${changed(name)}<span class="hidden-text"> unsaved</span></span>`}
        </a>`,
      )}
    </nav>
    <select class="input settings-choice" aria-label="Section of the settings" value=${show} onChange=${(event) => setParams({ show: event.currentTarget.value, q: "", own: "" })}>
      ${!show && html`<option value="">All sections</option>`}
      ${names.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}
    </select>`;
}
