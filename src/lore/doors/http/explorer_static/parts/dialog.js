// dialog: modal windows. The browser keeps the focus inside and gives it back.
import { html } from "htm/preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { signal, useSignal } from "../signal.js";
import { Button } from "./button.js";
import { Field } from "./field.js";

/** A modal window while it is shown. onClose: the reader wants it closed (Escape, the cross, outside). */
export function Dialog({ title, onClose, children, class: more = "dialog", head = true }) {
  const box = useRef(null);
  useEffect(() => {
    const dialog = box.current;
    dialog.showModal();
    dialog.querySelector("[data-first]")?.focus();
    return () => dialog.close();
  }, []);
  const outside = (event) => event.target === box.current && onClose();
  return html`<dialog
    ref=${box} class=${more} aria-label=${title} onPointerDown=${outside}
    onCancel=${(event) => (event.preventDefault(), onClose())}
  >
    ${head &&
    html`<div class="dialog-head">
      <h2>${title}</h2>
      <${Button} icon="close" look="quiet" small label="Close" onClick=${onClose} />
    </div>`}
    ${head ? html`<div class="dialog-body">${children}</div>` : children}
  </dialog>`;
}

const question = signal(null);

/** Ask the reader; resolves to false, or to {reason} where the action was chosen.
 * text: what will happen. action: the button. danger: it destroys something. typed: the word to type before.
 * reason: label of a field for a reason, which may stay empty. */
export function ask(options) {
  return new Promise((resolve) => question.set({ ...options, resolve }));
}

/** The place where questions of `ask` appear; once, in the shell. */
export function Questions() {
  const current = useSignal(question);
  return current && html`<${Question} key=${current} ...${current} />`;
}

function Question({ title, text, action, danger, typed, reason, resolve }) {
  const [word, setWord] = useState("");
  const [why, setWhy] = useState("");
  const answer = (value) => (question.set(null), resolve(value));
  const ready = !typed || word.trim().toLowerCase() === typed.toLowerCase();
  const submit = (event) => (event.preventDefault(), ready && answer({ reason: why.trim() }));
  return html`<${Dialog} title=${title} onClose=${() => answer(false)}>
    <form class="stack" onSubmit=${submit}>
      <p class="soft prose">${text}</p>
      ${reason && html`<${Field} label=${reason} value=${why} onInput=${setWhy} data-first />`}
      ${typed &&
      html`<${Field} label=${`Type “${typed}” to go on`} value=${word} onInput=${setWord} autocomplete="off" data-first />`}
      <div class="dialog-foot">
        <${Button} onClick=${() => answer(false)} data-first=${!typed && !reason && danger}>Cancel<//>
        <${Button} type="submit" look=${danger ? "danger main" : "main"} disabled=${!ready}
          data-first=${!typed && !reason && !danger}>${action}<//>
      </div>
    </form>
  <//>`;
}
