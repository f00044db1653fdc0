// drop: a place to drop a file onto, or to choose one with the keyboard.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { Icon } from "../../parts/icon.js";

export function DropZone({ onFile }) {
  const [over, setOver] = useState(false);
  const take = (files) => files?.length && onFile(files[0]);
  const drag = (is) => (event) => (event.preventDefault(), setOver(is));
  const drop = (event) => {
    event.preventDefault();
    setOver(false);
    take(event.dataTransfer?.files);
  };
  return html`<label class=${`drop ${over ? "over" : ""}`} onDragOver=${drag(true)} onDragEnter=${drag(true)} onDragLeave=${drag(false)} onDrop=${drop}>
    <input type="file" class="hidden-text" aria-label="File to import" onChange=${(event) => (take(event.currentTarget.files), (event.currentTarget.value = ""))} />
    <${Icon} name="upload" size="26" />
    <span class="button">Choose a file</span>
    <span class="soft">or drop it here</span>
    <span class="faint small">Backups of Lore, exports of ChatGPT and Claude, knowledge graphs, Mem0, Basic Memory, claude-mem, and conversations as text or JSON lines. You see first what it holds.</span>
  </label>`;
}
