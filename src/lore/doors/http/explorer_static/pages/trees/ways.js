// ways: from memories up to the roots of their trees.
import { call } from "../../api.js";

const DEEPEST = 30;
const TREE = "hierarchical";

/** The parent of each memory on the ways up, and how many children each has. */
export async function waysUp(ids, signal) {
  const parents = new Map();
  const counts = new Map();
  let level = ids;
  for (let depth = 0; level.length && depth < DEEPEST; depth += 1) {
    const { value: links, error } = await call("links", { ids: level, kinds: [TREE] }, { signal });
    if (error) return { error };
    const here = new Set(level);
    for (const id of level) counts.delete(id);
    for (const { source, target } of links) {
      if (here.has(target)) parents.set(target, source);
      if (here.has(source)) counts.set(source, (counts.get(source) ?? 0) + 1);
    }
    level = [...new Set(level.map((id) => parents.get(id)).filter((id) => id && !here.has(id) && !counts.has(id)))];
  }
  return { parents, counts };
}

/** A memory and what is above it, up to its root. */
export function wayOf(id, parents) {
  const way = [];
  for (let at = id; at && !way.includes(at); at = parents.get(at)) way.push(at);
  return way;
}
