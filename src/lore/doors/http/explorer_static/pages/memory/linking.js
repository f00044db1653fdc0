// linking: choose another memory and say why the two belong together.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { call } from "../../api.js";
import { labelOf } from "../../format.js";
import { useLoad } from "../../load.js";
import { Button } from "../../parts/button.js";
import { Dialog } from "../../parts/dialog.js";
import { Field } from "../../parts/field.js";
import { tell, tellError } from "../../parts/toast.js";

const SHOWN = 6;

export function Linking({ memory, onDone }) {
  const [text, setText] = useState("");
  const [target, setTarget] = useState(null);
  const [reason, setReason] = useState("");
  const found = useLoad((aborts) => candidates(memory, text.trim(), aborts), text.trim(), { live: false });
  const link = async (event) => {
    event.preventDefault();
    const { value, error } = await call("link", { ties: [{ source: memory.id, target: target.id, reason }] });
    if (error) return tellError(error);
    tell("Linked.", { undo: () => call("unlink", { ids: value.map((one) => one.id) }) });
    return onDone();
  };
  return html`<${Dialog} title="Link to another memory" onClose=${onDone}>
    <form class="stack" onSubmit=${link}>
      <${Field} label="Which one?" placeholder="Search" value=${text} onInput=${setText} autocomplete="off" data-first />
      <ul class="choices" role="listbox" aria-label="Memories">
        ${(found.value ?? []).map(
          (one) => html`<li key=${one.id} role="presentation">
            <button type="button" role="option" aria-selected=${String(target?.id === one.id)} onClick=${() => setTarget(one)}>${labelOf(one)}</button>
          </li>`,
        )}
      </ul>
      <${Field} label="Why do they belong together? (may stay empty)" value=${reason} onInput=${setReason} />
      <div class="dialog-foot">
        <${Button} onClick=${onDone}>Cancel<//>
        <${Button} type="submit" look="main" disabled=${!target}>Link<//>
      </div>
    </form>
  <//>`;
}

/** What fits the text; without one, what resembles the memory. */
async function candidates(memory, text, aborts) {
  const query = { text: text || labelOf(memory, 200), limit: SHOWN + 1, counted: false };
  const { value, error } = await call("search", { query }, { signal: aborts });
  if (error) return { error };
  return { value: value.hits.map((hit) => hit.memory).filter((one) => one.id !== memory.id).slice(0, SHOWN) };
}
