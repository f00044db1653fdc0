// changes: what a reader does to memories, each with its way back.
import { call } from "./api.js";
import { count, labelOf } from "./format.js";
import { ask } from "./parts/dialog.js";
import { tell, tellError } from "./parts/toast.js";

/** The transaction of the last change of a memory or link. */
export async function lastBatch(id) {
  const { value } = await call("activity", { id, limit: 1 });
  return value?.entries[0]?.batch;
}

/** Take a transaction back. */
export function undoBatch(batch) {
  return batch ? call("undo", { batch }) : Promise.resolve({ error: { message: "This change cannot be found any more." } });
}

/** Call a verb and tell the reader: `done` (a text, or a function of the result) with Undo, or the error. Returns the answer.
 * undo: takes it back; id: instead of it, the memory or link whose last change is taken back. */
export async function change(verb, args, { done, undo, id }) {
  const answer = await call(verb, args);
  if (answer.error) {
    tellError(answer.error);
    return answer;
  }
  const batch = id ? await lastBatch(id) : undefined;
  tell(typeof done === "function" ? done(answer.value) : done, { undo: undo ?? (batch && (() => undoBatch(batch))) });
  return answer;
}

export async function forget(memories) {
  const ids = memories.map((memory) => memory.id);
  const one = memories.length === 1;
  const answer = await ask({
    title: one ? "Forget this memory?" : `Forget ${count(ids.length, "memory", "memories")}?`,
    text: `${one ? `“${labelOf(memories[0])}” is` : "They are"} no longer found or handed to agents. You can bring ${one ? "it" : "them"} back at any time.`,
    action: "Forget",
    reason: "Why? (may stay empty)",
  });
  if (!answer) return null;
  const done = one ? "Forgotten." : `${count(ids.length, "memory", "memories")} forgotten.`;
  return change("forget", { ids, reason: answer.reason }, { done, undo: () => call("restore", { ids }) });
}

export function restore(memories) {
  const ids = memories.map((memory) => memory.id);
  return change("restore", { ids }, { done: "Brought back.", undo: () => call("forget", { ids }) });
}

/** Erase forgotten memories for good, after the reader has typed a word. */
export async function purge(memories) {
  const one = memories.length === 1;
  const answer = await ask({
    title: one ? "Erase this memory for good?" : `Erase ${count(memories.length, "memory", "memories")} for good?`,
    text: "The text, its history and its links are removed from the store. Nothing can bring this back, and there is no Undo.",
    action: "Erase for good",
    danger: true,
    typed: "erase",
  });
  if (!answer) return null;
  return change("purge", { ids: memories.map((memory) => memory.id) }, { done: erased });
}

function erased({ backups = [] }) {
  return backups.length ? `Erased for good. ${count(backups.length, "backup")} still hold it: ${backups.join(", ")}` : "Erased for good.";
}

export function rate(memory, useful) {
  const done = useful ? "Marked as useful." : "Marked as not useful.";
  return change("rate", { memories: [{ id: memory.id, useful }] }, { done, id: memory.id });
}
