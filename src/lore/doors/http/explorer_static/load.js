// load: what a page shows, from asking for it to its next change.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { call, isAborted, request } from "./api.js";
import { onEvent } from "./live.js";

const SETTLE_MILLISECONDS = 150;
const LONGEST_MILLISECONDS = 15_000;
// after a change by others a question rests for this many times as long as its last answer took
const REST = 3;

/** The answer of `ask(abortSignal)`: {value, error, loading, reload, setValue}.
 *
 * It is asked again when `key` changes (null: not at all) and, if `live`, after a change in the store.
 * live: true, or a function of the changed ids. The old value stays until the new one has come,
 * also after an error; what was not found has none. */
export function useLoad(ask, key, { live = true } = {}) {
  const [state, setState] = useState({ key: undefined, value: undefined, error: undefined });
  const running = useRef(null);
  const latest = useRef({});
  const taken = useRef(0);
  latest.current = { ask, live };

  const reload = useCallback(async () => {
    running.current?.abort();
    const aborts = (running.current = new AbortController());
    const began = performance.now();
    const answer = await latest.current.ask(aborts.signal);
    taken.current = performance.now() - began;
    if (aborts.signal.aborted || isAborted(answer)) return;
    const stays = answer.error && answer.error.kind !== "NotFound";
    setState((old) => ({ key, value: stays && old.key === key ? old.value : answer.value, error: answer.error }));
  }, [key]);

  useEffect(() => {
    if (key === null) return undefined;
    reload();
    return () => running.current?.abort();
  }, [key, reload]);

  useEffect(() => {
    let timer = 0;
    const stop = onEvent("change", ({ ids, own }) => {
      const { live: wanted } = latest.current;
      const touched = typeof wanted === "function" ? ids === null || wanted(ids ?? []) : wanted;
      if (!touched || key === null) return;
      const rest = own ? SETTLE_MILLISECONDS : Math.min(LONGEST_MILLISECONDS, Math.max(SETTLE_MILLISECONDS, REST * taken.current));
      if (own) timer = clearTimeout(timer);
      timer ||= setTimeout(() => ((timer = 0), reload()), rest);
    });
    return () => (stop(), clearTimeout(timer));
  }, [key, reload]);

  const setValue = (value) => setState((old) => ({ ...old, value: typeof value === "function" ? value(old.value) : value }));
  if (key === null) return { value: undefined, error: undefined, loading: false, reload, setValue };
  return { value: state.value, error: state.error, loading: state.key !== key, reload, setValue };
}

/** The result of a verb. args null: it is not called. */
export function useVerb(verb, args = {}, options) {
  const key = args === null ? null : JSON.stringify([verb, args]);
  return useLoad((aborts) => call(verb, args, { signal: aborts }), key, options);
}

/** The answer of a GET route below /api/v1. */
export function useGet(path, options) {
  return useLoad((aborts) => request("GET", path, { aborts }), path, options);
}
