// words: what an import found, as figures with plain names.
import { plain } from "../../words.js";

const FORMATS = {
  lore: "a backup of Lore",
  graph: "a knowledge graph of the official memory server",
  "basic-memory": "an archive of Basic Memory",
  mem0: "an export of Mem0",
  "claude-mem": "a store of claude-mem",
  "claude-ai": "an export of Claude",
  chatgpt: "an export of ChatGPT",
  jsonl: "a conversation in JSON lines",
  text: "a conversation as text",
  conversations: "a file of conversations",
};

export const formatName = (format) => FORMATS[format] ?? `a file of ${plain(format)}`;

/** How many memories an import adds, or has added. */
export function newOf({ memories, conversations, graph, preview }) {
  if (memories) return memories.new + (preview ? 0 : memories.replaced);
  if (conversations) return conversations.turns + conversations.changed;
  return Math.max(graph.new_memories, preview ? graph.entities + graph.relations : 0);
}

/** What an import adds: words for one, words for several. */
export const unitOf = ({ conversations }) => (conversations ? ["message", "messages"] : ["memory", "memories"]);

/** The figures of a result: list of {label, value, help, tone}; those that are 0 are left out, but for the first. */
export function figuresOf({ memories, conversations, graph, preview }) {
  const help = preview ? "not here yet" : "here from now on";
  const all = memories ? ofMemories(memories, help) : conversations ? ofConversations(conversations, help) : ofGraph(graph);
  return all.map(([label, value, help, tone = ""]) => ({ label, value, help, tone })).filter((one, at) => at === 0 || one.value);
}

function ofMemories(found, help) {
  return [
    ["New", found.new, help, "good"],
    ["Already here", found.same, "left as they are"],
    ["Different here", found.different, "the same memory with other values", "warn"],
    ["Replaced", found.replaced, "now as in the file"],
    ["Duplicates", found.duplicates, "new, but their text is known", "warn"],
    ["New links", found.links, "between memories"],
    ["Links left out", found.links_left_out, "an end is missing", "warn"],
    ["Unreadable", found.unreadable, "parts of the file", "bad"],
  ];
}

function ofConversations(found, help) {
  const secrets = Object.values(found.redacted).reduce((sum, one) => sum + one, 0);
  return [
    ["New messages", found.turns, help, "good"],
    ["New sessions", found.sessions, "conversations"],
    ["Changed messages", found.changed, "they have grown"],
    ["Secrets removed", secrets, "passwords and keys are not kept"],
    ["Unreadable", found.passed_over, "lines of the file", "bad"],
  ];
}

function ofGraph(found) {
  return [
    ["New memories", found.new_memories, "entities and observations", "good"],
    ["Entities", found.entities, "in the file"],
    ["Relations", found.relations, "in the file"],
    ["New links", found.new_links, "between entities"],
    ["Refused", found.refused, "they cannot be kept", "warn"],
    ["Unreadable", found.skipped, "lines of the file", "bad"],
  ];
}
