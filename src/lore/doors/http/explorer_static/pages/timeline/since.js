// since: what has become of a memory, from how it was and how it is.
const EDITED = ["title", "content"];
const MOVED = ["type", "project", "status", "importance"];

/** null where nothing has changed, or {text, tone, icon, at, by, edited}. by: the memory that replaced it. */
export function sinceThen(then, now) {
  if (!now) return { text: "Erased since", tone: "bad", icon: "flame" };
  const edited = EDITED.some((field) => then[field] !== now[field]);
  if (now.forgotten_at != null) return { text: "Forgotten", tone: "bad", icon: "trash", at: now.forgotten_at, edited };
  if (now.superseded_by) return { text: "Replaced", tone: "warn", icon: "replace", at: now.superseded_at, by: now.superseded_by, edited };
  if (edited) return { text: "Edited", tone: "accent", icon: "edit", at: now.updated_at, edited };
  if (MOVED.some((field) => then[field] !== now[field])) return { text: "Details changed", tone: "", icon: "edit", at: now.updated_at };
  return null;
}
