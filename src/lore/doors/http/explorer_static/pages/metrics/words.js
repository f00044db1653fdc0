// words: times and names of calls as people read them.
import { plain } from "../../words.js";

export function durationOf(milliseconds) {
  if (milliseconds == null) return "–";
  if (milliseconds < 10) return `${milliseconds.toFixed(1)} ms`;
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

/** Kind of a call -> [short name, what it is]. */
const KINDS = { verb: ["Verb", "A verb of the HTTP API; these pages call verbs too"], tool: ["Tool", "A tool that an agent has used"] };
export const kindOf = (kind) => KINDS[kind] ?? [plain(kind), ""];
