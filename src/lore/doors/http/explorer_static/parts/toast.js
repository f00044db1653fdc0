// toast: short messages about what was done, with Undo where it can be taken back.
import { html } from "htm/preact";
import { useEffect, useRef } from "preact/hooks";
import { useKeys } from "../keys.js";
import { signal, useSignal } from "../signal.js";
import { Icon } from "./icon.js";

const SHOWN_MILLISECONDS = 9000;
const SHOWN = 3;
const toasts = signal([]);
let next = 0;

/** Tell the reader. undo: an async function that takes it back and returns {error} if it could not. */
export function tell(text, { undo, failed = false } = {}) {
  const toast = { id: (next += 1), text, undo, failed };
  toasts.set((all) => [...all, toast].slice(-SHOWN));
}

/** Tell the reader what went wrong. */
export function tellError(error) {
  tell(error.message, { failed: true });
}

function drop(id) {
  toasts.set((all) => all.filter((one) => one.id !== id));
}

async function takeBack(toast) {
  drop(toast.id);
  const answer = await toast.undo();
  if (answer?.error) tellError(answer.error);
  else tell("Taken back.");
}

/** The place where messages appear; once, in the shell. It lies above dialogs. */
export function Toasts() {
  const all = useSignal(toasts);
  const box = useRef(null);
  useEffect(() => {
    if (!box.current?.showPopover) return;
    if (all.length) {
      box.current.hidePopover();
      box.current.showPopover();
    } else {
      box.current.hidePopover();
    }
  }, [all]);
  useKeys([
    {
      keys: "z",
      label: "Take back the last change",
      group: "Everywhere",
      run() {
        const last = toasts.get().findLast((one) => one.undo);
        return last ? void takeBack(last) : false;
      },
    },
  ]);
  return html`<div class="toasts" ref=${box} popover="manual" role="status" aria-live="polite">
    ${all.map((one) => html`<${Toast} key=${one.id} toast=${one} />`)}
  </div>`;
}

function Toast({ toast }) {
  const timer = useRef(0);
  const wait = () => (timer.current = setTimeout(() => drop(toast.id), SHOWN_MILLISECONDS));
  const hold = () => clearTimeout(timer.current);
  useEffect(() => (wait(), hold), []);
  return html`<div
    class=${`toast ${toast.failed ? "failed" : ""}`} onPointerEnter=${hold} onPointerLeave=${wait}
    onFocusIn=${hold} onFocusOut=${wait}
  >
    ${toast.failed && html`<${Icon} name="warning" />`}
    <p>${toast.text}</p>
    ${toast.undo && html`<button type="button" onClick=${() => takeBack(toast)}>Undo</button>`}
    <button type="button" aria-label="Dismiss" onClick=${() => drop(toast.id)}><${Icon} name="close" size="15" /></button>
  </div>`;
}
