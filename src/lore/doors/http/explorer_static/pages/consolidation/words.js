// words: phases and counters of a consolidation in plain words.
import { count } from "../../format.js";
import { plain } from "../../words.js";

/** Phase -> [what it does, why]. */
const PHASES = {
  embed: ["Prepare new memories", "So that they can be found by meaning."],
  "embed elsewhere": ["Prepare new memories", "Another process of Lore does it."],
  digest: ["Learn from conversations", "Facts, decisions and preferences become memories."],
  relevance: ["Weigh memories", "Which are needed, and which fade."],
  merge: ["Join duplicates", "Two memories of the same become one."],
  link: ["Link what belongs together", "So that one leads to the other."],
  resummarize: ["Write overviews", "Topics that have grown are summed up again."],
  reflect: ["Draw conclusions", "What several memories say together."],
  contradict: ["Resolve contradictions", "A newer statement replaces an outdated one."],
  decay: ["Let links fade", "Links that nobody uses lose weight."],
  prune: ["Forget what has faded", "Only what nobody has needed for a long time."],
};

/** Counter -> [words for one, words for several]; in the order in which they are told. */
const COUNTS = {
  sessions_digested: ["conversation digested", "conversations digested"],
  fragments_extracted: ["memory extracted", "memories extracted"],
  contradictions_resolved: ["outdated memory replaced", "outdated memories replaced"],
  twins_merged: ["duplicate merged", "duplicates merged"],
  roots_merged: ["tree merged into another", "trees merged into others"],
  links_created: ["link created", "links created"],
  roots_resummarized: ["overview written", "overviews written"],
  reflections_generated: ["insight gained", "insights gained"],
  edges_pruned: ["faded link ended", "faded links ended"],
  fragments_pruned: ["faded memory forgotten", "faded memories forgotten"],
};
const ROUTINE = /^(relevance_updated|learnt_\w+|todos_closed|repeats_found)$/;

export const phaseName = (phase) => PHASES[phase]?.[0] ?? plain(phase);
export const phaseHelp = (phase) => PHASES[phase]?.[1] ?? "";

/** What was done, as a list of words; empty if nothing was changed. */
export function countsOf(counts) {
  const names = [...Object.keys(COUNTS), ...Object.keys(counts).filter((name) => !COUNTS[name] && !ROUTINE.test(name))];
  return names.filter((name) => counts[name]).map((name) => count(counts[name], ...(COUNTS[name] ?? [plain(name).toLowerCase(), plain(name).toLowerCase()])));
}

export function durationOf(seconds) {
  if (seconds < 1) return "less than a second";
  if (seconds < 90) return count(Math.round(seconds), "second");
  return count(Math.round(seconds / 60), "minute");
}
