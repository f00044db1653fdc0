// waiting: the number of things that wait for a decision; asked for once, for everything that shows it.
import { useEffect } from "preact/hooks";
import { call, written } from "./api.js";
import { onEvent } from "./live.js";
import { signal, useSignal } from "./signal.js";

const FIRST_MILLISECONDS = 800;
const OWN_MILLISECONDS = 500;
const OTHERS_MILLISECONDS = 15_000;
const counted = signal(0);
let started = false;
let timer = 0;
let due = Infinity;

async function ask() {
  due = Infinity;
  const { value } = await call("inbox", { limit: 1 });
  if (value) counted.set(Object.values(value.counts).reduce((sum, one) => sum + one, 0));
}

/** Ask within this time; an earlier date stays. In a large store the answer takes a while, so it waits for the page. */
function askIn(milliseconds) {
  const wanted = performance.now() + milliseconds;
  if (wanted >= due) return;
  due = wanted;
  clearTimeout(timer);
  timer = setTimeout(ask, milliseconds);
}

function start() {
  if (started) return;
  started = true;
  askIn(FIRST_MILLISECONDS);
  written.watch(() => askIn(OWN_MILLISECONDS));
  onEvent("change", () => askIn(OTHERS_MILLISECONDS));
}

export function useWaiting() {
  useEffect(start, []);
  return useSignal(counted);
}
