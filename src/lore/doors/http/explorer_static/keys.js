// keys: shortcuts of the page and of the view that is open. Nothing happens while somebody types.
import { useEffect, useRef } from "preact/hooks";
import { signal } from "./signal.js";
import { store, stored } from "./storage.js";

const SEQUENCE_MILLISECONDS = 1000;
const layers = signal([]);
let pressed = "";
let pressedAt = 0;

/** Whether shortcuts of a single key are on; those with Ctrl always are. */
export const singleKeys = signal(stored("keys") !== "off");

export function chooseSingleKeys(on) {
  store("keys", on ? "" : "off");
  singleKeys.set(on);
}

/** All shortcuts that work now, the most recent layer first: {keys, label, run, group}. */
export function activeKeys() {
  return [...layers.get()].reverse().flatMap((layer) => layer.current);
}

/** Shortcuts while this component is shown. keys: "j", "g s" (one after the other), "mod+k", "Enter".
 * typing: it works in fields too. label: for the help; without one it is not listed. */
export function useKeys(shortcuts) {
  const layer = useRef(shortcuts);
  layer.current = shortcuts;
  useEffect(() => {
    layers.set((all) => [...all, layer]);
    return () => layers.set((all) => all.filter((one) => one !== layer));
  }, []);
}

function nameOf(event) {
  const mod = event.ctrlKey || event.metaKey ? "mod+" : "";
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const shift = event.shiftKey && (event.key.length > 1 || /[a-z]/i.test(event.key)) ? "shift+" : "";
  return mod + shift + key;
}

export function isTyping(target) {
  const field = target.closest?.("input, textarea, select, [contenteditable]");
  return Boolean(field) && !["checkbox", "radio", "button", "range"].includes(field.type);
}

addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing || event.altKey) return;
  const name = nameOf(event);
  const typing = isTyping(event.target);
  const inDialog = document.querySelector("dialog:modal");
  const now = performance.now();
  const sequence = now - pressedAt < SEQUENCE_MILLISECONDS ? `${pressed} ${name}` : name;
  pressed = name;
  pressedAt = now;
  for (const wanted of [sequence, name]) {
    const shortcut = activeKeys().find((one) => one.keys.split(", ").includes(wanted) && fits(one));
    if (!shortcut) continue;
    if (shortcut.run(event) === false) continue;
    event.preventDefault();
    pressed = "";
    return;
  }

  function fits(one) {
    if (inDialog && !one.dialog) return false;
    if (typing && !one.typing) return false;
    if (name === "Enter" && event.target.closest?.("a, button, summary") && !one.typing) return false;
    return singleKeys.get() || name.startsWith("mod+") || name.length > 1;
  }
});
