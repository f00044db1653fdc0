// setting: one setting with its help, its field, and where its value comes from.
import { html } from "htm/preact";
import { useId } from "preact/hooks";
import { Button } from "../../parts/button.js";
import { Chip } from "../../parts/chip.js";
import { Icon } from "../../parts/icon.js";
import { defaultOf, nameOf, originOf, textOf } from "./names.js";

const OVERRULED = ["environment", "flag"];

export function Setting({ setting, drafts }) {
  const id = useId();
  const problem = drafts.problems[setting.name];
  const isChanged = setting.name in drafts.all;
  return html`<div class=${`setting ${isChanged ? "changed" : ""}`}>
    <div class="setting-text">
      <label for=${id}>${nameOf(setting)}</label>
      <p class="soft">${setting.help}</p>
      <p class="meta"><code>${setting.key}</code><span>Default: ${defaultOf(setting)}</span></p>
    </div>
    <div class="setting-value">
      <${Control} id=${id} setting=${setting} drafts=${drafts} problem=${problem} />
      ${problem && html`<span id=${`${id}-about`} class="problem" role="alert">${problem}</span>`}
      <${Origin} setting=${setting} drafts=${drafts} isChanged=${isChanged} />
    </div>
  </div>`;
}

function Control({ id, setting, drafts, problem }) {
  const value = drafts.valueOf(setting);
  const set = (typed) => drafts.set(setting, typed);
  const shared = { id, disabled: !setting.writable, "aria-describedby": problem ? `${id}-about` : undefined, "aria-invalid": problem ? "true" : undefined };
  if (setting.type === "table") return html`<output id=${id} class="mono prose setting-table">${textOf(setting.value) === "{}" ? "None" : textOf(setting.value)}</output>`;
  if (setting.type === "boolean") {
    return html`<span class="check"><input type="checkbox" role="switch" ...${shared} checked=${value} onChange=${(event) => set(event.currentTarget.checked)} /><span aria-hidden="true">${value ? "On" : "Off"}</span></span>`;
  }
  if (setting.choices.length) {
    const options = setting.choices.includes(setting.default) ? setting.choices : [textOf(setting.default), ...setting.choices];
    return html`<select class="input" ...${shared} value=${value} onChange=${(event) => set(event.currentTarget.value)}>
      ${options.map((one) => html`<option key=${one} value=${one}>${one || "None"}</option>`)}
    </select>`;
  }
  const mode = { integer: "numeric", number: "decimal" }[setting.type];
  return html`<input type="text" class="input" ...${shared} inputmode=${mode} autocomplete="off" spellcheck="false" value=${value} onInput=${(event) => set(event.currentTarget.value)} />`;
}

function Origin({ setting, drafts, isChanged }) {
  const { origin, writable, restart, used, type } = setting;
  const reset = () => drafts.set(setting, type === "boolean" ? setting.default : "");
  const canReset = writable && origin === "file" && !isChanged;
  return html`<div class="setting-origin">
    ${!writable && html`<span><${Icon} name="lock" size="13" />${type === "path" && setting.name === "data_dir" ? "Set at the start" : "Changed on the server's machine"}</span>`}
    ${isChanged && html`<${Chip} tone="accent">Not saved<//>`}
    ${restart && html`<${Chip} tone="warn" title=${`In use until then: ${textOf(used) || "empty"}`}>After a restart<//>`}
    ${origin !== "default" && html`<span>${originOf(setting)}</span>`}
    ${OVERRULED.includes(origin) && writable && html`<span>It wins over the file</span>`}
    ${canReset && html`<${Button} small look="quiet" icon="undo" onClick=${reset}>Default<//>`}
  </div>`;
}
