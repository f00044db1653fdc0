// words: what the store calls things -> what a person calls them.

/** Kind of a memory -> [its name, many of them, icon]. */
export const KINDS = {
  note: ["Note", "Notes", "note"],
  fragment: ["Note in a tree", "Notes in trees", "tree"],
  entity: ["Person or thing", "People and things", "entity"],
  observation: ["Observation", "Observations", "eye"],
  reflection: ["Summary", "Summaries", "spark"],
  file: ["File", "Files", "file"],
  account: ["Account of a conversation", "Accounts of conversations", "chat"],
  session: ["Conversation", "Conversations", "chat"],
  turn: ["Message", "Messages", "message"],
  "lore-call": ["Call to Lore", "Calls to Lore", "message"],
};

/** Type of a memory -> its name. */
export const TYPES = {
  fact: "Fact",
  preference: "Preference",
  decision: "Decision",
  identity: "About you",
  event: "Event",
  observation: "Observation",
  goal: "Goal",
  todo: "To do",
  user: "Said by you",
  assistant: "Said by the agent",
  tool: "Output of a tool",
  summary: "Summary",
};

/** The types that a person may give a memory. */
export const OWN_TYPES = ["fact", "preference", "decision", "goal", "todo", "event", "identity"];

/** Part of a score -> [short reason, longer explanation]. */
export const SIGNALS = {
  meaning: ["The meaning is close", "It says something similar to your question, even in other words."],
  similarity: ["The meaning is close", "It says something similar to your question, even in other words."],
  meaning_rank: ["The meaning is close", "It is among the closest in meaning."],
  wording: ["The words match", "It has the words of your question."],
  words: ["The words match", "It has the words of your question."],
  words_rank: ["The words match", "It is among the best by words."],
  exact: ["It has your exact term", "A name, path or number of your question is in it to the letter."],
  session_support: ["Its conversation is about this", "Other parts of the same conversation fit too."],
  neighbour_support: ["What surrounds it fits", "The messages right before and after it fit too."],
  recent: ["Recent", "It is newer than most of the others."],
  when: ["From the right time", "It is from the time that you ask about, or names a time."],
  length: ["Enough detail", "It is long enough to be an answer."],
  speaker: ["From the right person", "The one you ask about said it, or you did."],
  is_statement: ["It states something", "It is a statement, not a question."],
  relevance: ["Fresh in memory", "It is important, was used lately, or is new."],
  quality: ["Rated well", "You or an agent found it useful."],
  use: ["Used often", "It was often read or found."],
  links: ["Linked to other results", "Memories that it is linked to were found too."],
  links_rank: ["Linked to other results", "Memories that it is linked to were found too."],
};

/** What `session_support` means for a memory outside any conversation. */
const ALONE = ["It stands out", "It fits clearly better than most others."];

/** Signal of a suggested link -> reason. */
export const LINK_SIGNALS = {
  cosine: "similar meaning",
  bm25: "common words",
  entity: "the same names",
  temporal: "from the same time",
};

/** Kind of a link, seen from its source and from its target. */
export const LINKS = {
  hierarchical: ["Above", "Below"],
  associative: ["Related to", "Related to"],
  temporal: ["Followed by", "Follows"],
  supersedes: ["Replaces", "Replaced by"],
  relation: ["Points to", "Pointed to by"],
};

/** Verb of a change -> what happened. */
export const CHANGES = {
  remember: "Learnt",
  remember_all: "Learnt",
  revise: "Edited",
  edit_file: "Edited",
  move_files: "Moved",
  supersede: "Replaced",
  forget: "Forgotten",
  forget_where: "Forgotten",
  restore: "Brought back",
  rate: "Rated",
  reflect: "Summed up",
  link: "Linked",
  unlink: "Link ended",
  review: "Link reviewed",
  judge: "Reviewed",
  undo: "Taken back",
  purge: "Erased",
  introduce: "Learnt",
  observe: "Learnt",
  retract: "Forgotten",
  relate: "Linked",
  unrelate: "Link ended",
  end_relation: "Link ended",
  split: "Split",
  consolidate: "Tidied up",
  ingest: "Read from a conversation",
  import_file: "Imported",
  import_memories: "Imported",
  import_graph: "Imported",
  undo_import: "Import taken back",
  keep_pushed: "Received from another machine",
  merge: "Received from another machine",
  scrub: "Secrets removed",
  verify: "Checked against files",
  cite: "Checked against files",
};

/** Client whose conversations are read -> its name. */
export const CLIENTS = {
  "claude-code": "Claude Code",
  codex: "Codex",
  gemini: "Gemini CLI",
  "cursor-cli": "Cursor CLI",
  "cursor-ide": "Cursor",
  opencode: "OpenCode",
  import: "Imported",
};

/** Field of a memory -> its name. */
export const FIELDS = {
  content: "Text",
  title: "Title",
  summary: "Summary",
  type: "Type",
  status: "Status",
  importance: "Importance",
  project: "Project",
  score: "Rating",
  confidence: "Confidence",
  trust: "Trust",
  flags: "Marks",
  metadata: "Details",
  parent: "Place in the tree",
  superseded_by: "Replaced by",
  forgotten_at: "Forgotten",
  forgotten_reason: "Reason",
  active: "Active",
  weight: "Strength",
};

export const kindName = (kind) => KINDS[kind]?.[0] ?? plain(kind);
export const kindsName = (kind) => KINDS[kind]?.[1] ?? plain(kind);
export const kindIcon = (kind) => KINDS[kind]?.[2] ?? "note";
export const typeName = (type) => TYPES[type] ?? plain(type);
/** The type of a memory; of those without a telling one, the kind. */
export const sortName = ({ type, kind }) => (type && type !== "generic" ? typeName(type) : kindName(kind));
export const changeName = (verb) => CHANGES[verb] ?? plain(verb);
export const clientName = (source) => CLIENTS[source] ?? plain(source);
export const fieldName = (field) => FIELDS[field] ?? plain(field);

/** [short reason, longer explanation] of a part of the score of a memory. */
export function signalWords(name, memory) {
  if (name === "session_support" && !memory.session) return ALONE;
  return SIGNALS[name] ?? [plain(name), ""];
}

/** A project on a small space: the last two parts of its address. */
export function projectName(project) {
  return project.split("/").filter(Boolean).slice(-2).join("/") || "No project";
}

/** How sure a memory is, from its trust of 0 to 1. */
export function trustName(trust) {
  if (trust >= 0.8) return "Trusted";
  if (trust >= 0.5) return "Second-hand";
  return "Unverified";
}

/** An identifier as words: "derived_from" -> "Derived from". */
export function plain(name) {
  const words = String(name).replace(/[_-]+/g, " ").trim();
  return words ? words[0].toUpperCase() + words.slice(1) : "";
}
