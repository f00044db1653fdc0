// inbox: the things that wait for a decision, in one list, and the decisions.
import { useMemo } from "preact/hooks";
import { call } from "../../api.js";
import { lastBatch, undoBatch } from "../../changes.js";
import { count } from "../../format.js";
import { useLoad } from "../../load.js";
import { tell, tellError } from "../../parts/toast.js";

const LIMIT = 50;

/** Kind of an item -> its words: many of them, what happened, what the two decisions mean. careful: rejecting is safer. */
export const KINDS = {
  contradictions: {
    many: "Contradictions", icon: "scales", about: "These two contradict each other. Lore believes the newer one.",
    accept: "The newer is right", reject: "Keep both",
  },
  merges: {
    many: "Duplicates", icon: "merge", about: "These two say the same. Lore put them together.",
    accept: "They are the same", reject: "Keep both",
  },
  suggestions: {
    many: "Possible links", icon: "link", about: "These two seem to belong together.",
    accept: "Link them", reject: "No link",
  },
  quarantined: {
    many: "Held back", icon: "shield", about: "This text tries to give orders to agents, so none gets it unasked.",
    accept: "It is harmless", reject: "Forget it", careful: true,
  },
};

/** {items, counts, value, error, reload, drop}: items are {key, kind, ...} of all kinds. */
export function useInbox() {
  const load = useLoad(ask, "inbox");
  const items = useMemo(() => itemsOf(load.value), [load.value]);
  const drop = (keys) => load.setValue((value) => value && without(value, keys));
  return { ...load, items, counts: load.value?.counts ?? {}, drop };
}

/** The inbox; suggestions name their memories by id, so these are read too. */
async function ask(aborts) {
  const { value, error } = await call("inbox", { limit: LIMIT }, { signal: aborts });
  if (error) return { error };
  const ids = [...new Set(value.suggestions.flatMap((one) => [one.source, one.target]))].filter((id) => typeof id === "string");
  const ends = ids.length ? await call("browse", { where: { ids }, limit: ids.length }, { signal: aborts }) : { value: { memories: [] } };
  if (ends.error) return { error: ends.error };
  const byId = Object.fromEntries(ends.value.memories.map((memory) => [memory.id, memory]));
  return { value: { ...value, byId } };
}

function itemsOf(value) {
  if (!value) return [];
  const memory = (end) => (typeof end === "string" ? value.byId[end] : end);
  const pairs = (kind) => value[kind].map((one) => ({ ...one, kind }));
  const links = value.suggestions.map((one) => ({ ...one, kind: "suggestions", key: one.id, older: memory(one.source), newer: memory(one.target) }));
  return [
    ...pairs("contradictions"),
    ...pairs("merges"),
    ...pairs("quarantined"),
    ...links.filter((one) => one.older && one.newer),
  ];
}

function without(value, keys) {
  const counts = { ...value.counts };
  const rest = Object.fromEntries(
    Object.keys(KINDS).map((kind) => {
      const kept = value[kind].filter((one) => !keys.has(one.key ?? one.id));
      counts[kind] = Math.max(0, (counts[kind] ?? 0) - (value[kind].length - kept.length));
      return [kind, kept];
    }),
  );
  return { ...value, ...rest, counts };
}

/** Decide about items; they leave the list at once, and come back where it did not work. */
export async function decide(items, accepted, inbox) {
  const keys = new Set(items.map((item) => item.key));
  inbox.drop(keys);
  const links = items.filter((item) => item.kind === "suggestions");
  const others = items.filter((item) => item.kind !== "suggestions");
  const answers = [
    links.length && (await call("review", { ids: links.map((item) => item.key), accepted })),
    others.length && (await call("judge", { keys: others.map((item) => item.key), accepted })),
  ].filter(Boolean);
  const failed = answers.find((answer) => answer.error);
  const refused = answers.flatMap((answer) => answer.value ?? []).find((one) => one.why);
  if (failed || refused) tellError(failed?.error ?? { message: refused.why });
  else tell(`${accepted ? "Accepted" : "Rejected"}: ${count(items.length, "item")}.`, { undo: undoOf(items, accepted, answers) });
  await inbox.reload();
}

/** How to take a decision back: undefined where nothing was changed that could be. */
function undoOf(items, accepted, answers) {
  if (items.every((item) => item.kind === "suggestions")) {
    const links = answers.flatMap((answer) => answer.value ?? []).map((one) => one.link).filter(Boolean);
    return links.length ? () => call("unlink", { ids: links }) : undefined;
  }
  if (items.length > 1 || accepted) return undefined;
  const [item] = items;
  if (item.kind === "quarantined") return () => call("restore", { ids: [item.memory.id] });
  return async () => undoBatch(await lastBatch(item.older.id));
}
