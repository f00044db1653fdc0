// live: the server's events. A change made by anybody reaches every page that shows it.
import { apiAddress, written } from "./api.js";
import { signal } from "./signal.js";

const RETRY_MILLISECONDS = 15_000;
const NAMES = ["change", "consolidation", "status"];
const listeners = new Map(NAMES.map((name) => [name, new Set()]));
let source = null;
let retry = 0;
let wanted = false;

/** "" before the first connection, then "live" or "lost". */
export const connection = signal("");

/** Call `listener` with the data of each event of this name; returns the function that stops it.
 * change: {ids, at, own}; ids is null when anything may have changed: after a lost connection, or too many changes to list.
 * own: this window has made it. */
export function onEvent(name, listener) {
  listeners.get(name).add(listener);
  return () => listeners.get(name).delete(listener);
}

// what this window has changed is shown at once, also without a connection
written.watch(() => emit("change", { ids: null, at: Date.now() / 1000, own: true }));

function emit(name, data) {
  for (const listener of [...listeners.get(name)]) listener(data);
}

/** Listen from now on, whenever the window is visible. */
export function connect() {
  wanted = true;
  source?.close();
  clearTimeout(retry);
  if (document.hidden) return;
  source = new EventSource(apiAddress("events"));
  source.onopen = () => {
    if (connection.get() === "lost") emit("change", { ids: null, at: Date.now() / 1000 });
    connection.set("live");
  };
  source.onerror = () => {
    connection.set("lost");
    if (source.readyState === EventSource.CLOSED) retry = setTimeout(connect, RETRY_MILLISECONDS);
  };
  for (const name of NAMES) source.addEventListener(name, (event) => emit(name, parsed(event.data)));
}

// a browser opens only a few connections to one server, so a hidden window gives its own back
document.addEventListener("visibilitychange", () => {
  if (!wanted) return;
  if (document.hidden) {
    source?.close();
    connection.set("lost");
  } else {
    connect();
  }
});

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
