// signal: a value that several parts of the page watch.
import { useEffect, useState } from "preact/hooks";

/** A value with `get`, `set` and `watch`. set takes a value, or a function of the old one. */
export function signal(value) {
  const watchers = new Set();
  return {
    get: () => value,
    set(next) {
      value = typeof next === "function" ? next(value) : next;
      for (const watcher of [...watchers]) watcher(value);
    },
    watch(watcher) {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  };
}

/** The value of a signal; the component is drawn again when it changes. */
export function useSignal(one) {
  const [, draw] = useState(0);
  useEffect(() => {
    const seen = one.get();
    const stop = one.watch(() => draw((count) => count + 1));
    if (one.get() !== seen) draw((count) => count + 1);
    return stop;
  }, [one]);
  return one.get();
}
