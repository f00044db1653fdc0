// drafts: what the reader has changed and not saved; it stays while they look at other pages.
import { useEffect, useState } from "preact/hooks";
import { request } from "../../api.js";
import { tell } from "../../parts/toast.js";
import { signal, useSignal } from "../../signal.js";
import { textOf } from "./names.js";

/** Setting -> its new value as it was typed. */
const all = signal({});
const WHOLE = /^[+-]?\d+$/;

/** {value} of what was typed, or {problem}. null restores the default. */
export function parse({ type }, typed) {
  if (type === "boolean") return { value: typed };
  const text = typed.trim();
  if (!text) return { value: null };
  if (type === "integer" && !WHOLE.test(text)) return { problem: "This must be a whole number." };
  if (type === "number" && !Number.isFinite(Number(text))) return { problem: "This must be a number." };
  return { value: type === "integer" || type === "number" ? Number(text) : text };
}

/** {all, valueOf, set, problems, error, save, discard} of the settings in `view`. */
export function useDrafts(view, load) {
  const drafts = useSignal(all);
  const [refused, setRefused] = useState({});
  const problems = { ...refused.problems };
  for (const setting of view.settings) {
    const problem = setting.name in drafts && parse(setting, drafts[setting.name]).problem;
    if (problem) problems[setting.name] = problem;
  }
  useEffect(() => {
    if (!Object.keys(drafts).length) return undefined;
    const warn = (event) => event.preventDefault();
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [drafts]);

  const set = (setting, typed) => {
    setRefused({});
    all.set(({ [setting.name]: _, ...others }) => (isSame(setting, typed) ? others : { ...others, [setting.name]: typed }));
  };
  const discard = () => (setRefused({}), all.set({}));
  const save = async () => {
    const changed = view.settings.filter((one) => one.name in drafts);
    const values = Object.fromEntries(changed.map((one) => [one.name, parse(one, drafts[one.name]).value]));
    const { value, error } = await request("PUT", "settings", { json: values });
    if (error) return setRefused(refusalOf(error, changed, view));
    discard();
    load.setValue(value);
    const before = Object.fromEntries(changed.map((one) => [one.name, one.origin === "file" ? one.value : null]));
    return tell("Saved.", { undo: () => restore(before, load) });
  };
  const valueOf = (setting) => (setting.name in drafts ? drafts[setting.name] : setting.type === "boolean" ? setting.value : textOf(setting.value));
  return { all: drafts, valueOf, set, problems, error: refused.error, save, discard };
}

async function restore(values, load) {
  const answer = await request("PUT", "settings", { json: values });
  if (!answer.error) load.setValue(answer.value);
  return answer;
}

function isSame(setting, typed) {
  return setting.type === "boolean" ? typed === setting.value : typed.trim() === textOf(setting.value);
}

/** Where a refusal belongs: beside the setting that it names, else below all. */
function refusalOf(error, changed, { file }) {
  const message = error.message.replace(`${file}: `, "");
  const named = changed.find(({ name, key }) => [name, key].some((word) => hasWord(message, word)));
  return named ? { problems: { [named.name]: message } } : { error: message };
}

function hasWord(text, word) {
  const at = text.indexOf(word);
  const isEdge = (character) => !/[\w.]/.test(character ?? "");
  return at >= 0 && isEdge(text[at - 1]) && !/\w/.test(text[at + word.length] ?? "");
}
