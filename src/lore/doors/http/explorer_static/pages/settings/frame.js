// frame: what stands around the settings: the search, what needs a restart, and what is not saved.
import { html } from "htm/preact";
import { useEffect } from "preact/hooks";
import { count } from "../../format.js";
import { useKeys } from "../../keys.js";
import { Button } from "../../parts/button.js";
import { Check } from "../../parts/field.js";
import { SearchField, useTyped } from "../../parts/search-field.js";
import { Notice } from "../../parts/states.js";
import { setParams } from "../../router.js";
import { nameOf } from "./names.js";

export function Finder({ params }) {
  const [, typed, setTyped] = useTyped(params.q ?? "", (q) => setParams({ q }));
  useEffect(() => {
    if (!params.q) setTyped("");
  }, [params.q]);
  return html`<div class="row wrap settings-finder">
    <${SearchField} label="Find a setting" value=${typed} onInput=${setTyped} />
    <${Check} label="Only changed ones" checked=${Boolean(params.own)} onChange=${(on) => setParams({ own: on ? "1" : "" })} />
  </div>`;
}

/** The settings that a running Lore does not use yet, and what is wrong in the file. */
export function Restart({ view }) {
  const names = view.settings.filter((one) => one.restart).map(nameOf);
  return html`${names.length > 0 &&
    html`<${Notice} icon="refresh">
      <strong>Restart Lore to use ${count(names.length, "new value")}.</strong>${" "}
      ${names.join(", ")}. Run <code>lore daemon restart</code>, or start lore-server again.
    <//>`}
  ${view.warnings.map((text) => html`<${Notice} key=${text} tone="warn" icon="warning">${text}<//>`)}`;
}

/** The bar that stays in sight while something is not saved. */
export function Unsaved({ drafts }) {
  const number = Object.keys(drafts.all).length;
  const isWrong = Object.keys(drafts.problems).length > 0;
  useKeys([{ keys: "mod+s", label: "Save settings", typing: true, run: () => (number && !isWrong ? void drafts.save() : false) }]);
  if (!number) return null;
  return html`<div class="unsaved card" role="region" aria-label="Unsaved changes">
    <div class="grow">
      <strong>${count(number, "unsaved change")}</strong>
      ${drafts.error && html`<p class="problem" role="alert">${drafts.error}</p>`}
    </div>
    <${Button} onClick=${drafts.discard}>Discard<//>
    <${Button} look="main" disabled=${isWrong} onClick=${drafts.save}>Save<//>
  </div>`;
}
