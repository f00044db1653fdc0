// import: choose a file, see what would come of it, import it, and take it back.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { request, written } from "../../api.js";
import { bytes, count } from "../../format.js";
import { Button } from "../../parts/button.js";
import { Check } from "../../parts/field.js";
import { Section } from "../../parts/page.js";
import { Failed, Loading, Notice } from "../../parts/states.js";
import { tell, tellError } from "../../parts/toast.js";
import { signal, useSignal } from "../../signal.js";
import { DropZone } from "./drop.js";
import { Figures } from "./figures.js";
import { formatName, newOf, unitOf } from "./words.js";

/** The last import of this window: {name, result, undone}; it stays while the reader looks at other pages. */
const last = signal(null);
const OWN_FOLDER = /\S*lore-import-[^/\\]*[/\\]/g;

async function send(file, options) {
  const query = new URLSearchParams({ name: file.name, ...options });
  const answer = await request("POST", `import?${query}`, { body: file });
  if (answer.error) answer.error.message = answer.error.message.replace(OWN_FOLDER, "");
  return answer;
}

async function undo(id) {
  const answer = await request("POST", "import/undo", { json: { id } });
  if (answer.error) return answer;
  written.set((number) => number + 1);
  last.set((old) => old && { ...old, undone: answer.value });
  return answer;
}

export function Import() {
  const [step, setStep] = useState({ name: "choose" });
  const choose = async (file) => {
    setStep({ name: "wait", text: `Reading ${file.name} (${bytes(file.size)})…` });
    last.set(null);
    const { value, error } = await send(file, { preview: "1" });
    setStep(error ? { name: "failed", error, file } : { name: "preview", file, result: value });
  };
  const keep = async (file, replace) => {
    setStep({ name: "wait", text: `Importing ${file.name}…` });
    const { value, error } = await send(file, replace ? { replace: "1" } : {});
    if (error) return setStep({ name: "failed", error, file });
    written.set((number) => number + 1);
    last.set({ name: file.name, result: value });
    tell(`${file.name} was imported.`, { undo: () => undo(value.id) });
    return setStep({ name: "choose" });
  };
  return html`<${Section} title="Import">
    <div class="stack">
      <${Done} />
      ${step.name === "wait" && html`<p class="soft" role="status">${step.text}</p><${Loading} lines="4" />`}
      ${step.name === "failed" && html`<${Failed} error=${step.error} />`}
      ${step.name === "preview" && html`<${Preview} ...${step} onImport=${keep} onCancel=${() => setStep({ name: "choose" })} />`}
      ${["choose", "failed"].includes(step.name) && html`<${DropZone} onFile=${choose} />`}
    </div>
  <//>`;
}

function Preview({ file, result, onImport, onCancel }) {
  const [replace, setReplace] = useState(false);
  const different = result.memories?.different ?? 0;
  const number = newOf(result) + (replace ? different : 0);
  return html`<div class="stack">
    <p><strong>${file.name}</strong> <span class="soft">is ${formatName(result.format)} (${bytes(file.size)}). Nothing is changed yet.</span></p>
    <${Figures} result=${result} />
    ${different > 0 && html`<${Check} label=${`Replace ${count(different, "memory", "memories")} here by the file's`} checked=${replace} onChange=${setReplace} />`}
    <div class="row wrap">
      <${Button} look="main" icon="download" disabled=${!number} onClick=${() => onImport(file, replace)}>${number ? `Import ${count(number, ...unitOf(result))}` : "Nothing new to import"}<//>
      <${Button} onClick=${onCancel}>${number ? "Cancel" : "Choose another file"}<//>
    </div>
  </div>`;
}

/** The result of the last import, which can be taken back. */
function Done() {
  const shown = useSignal(last);
  if (!shown) return null;
  const { name, result, undone } = shown;
  if (undone) return html`<${Notice} icon="undo">The import of ${name} was taken back: ${count(undone.forgotten, "memory", "memories")} forgotten${undone.reverted ? `, ${undone.reverted} as before` : ""}.<//>`;
  const takeBack = async () => {
    const { error } = await undo(result.id);
    if (error) tellError(error);
  };
  return html`<${Notice} icon="check">
    <div class="stack">
      <div class="row spread wrap"><strong>${name} was imported.</strong><${Button} small icon="undo" onClick=${takeBack}>Undo the import<//></div>
      <${Figures} result=${result} />
    </div>
  <//>`;
}
