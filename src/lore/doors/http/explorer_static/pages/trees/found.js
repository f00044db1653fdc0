// found: the memories in trees that fit a question, each with the way up to its root.
import { call } from "../../api.js";
import { useLoad } from "../../load.js";
import { wayOf, waysUp } from "./ways.js";

const MOST_HITS = 40;

/** {roots, children, open, hits, cut} of the trees with hits, or {} without a question. */
export function useFound(text, top) {
  const { value, error } = useLoad((aborts) => found(text, top, aborts), text ? `${text}\n${top}` : null);
  return text ? { ...value, error } : {};
}

async function found(text, top, signal) {
  const query = { text, limit: MOST_HITS, counted: false, where: top ? { under: top } : {} };
  const answer = await call("search", { query }, { signal });
  if (answer.error) return answer;
  const ids = answer.value.hits.map((hit) => hit.memory.id);
  const { parents, counts, error } = await waysUp(ids, signal);
  if (error) return { error };
  const hits = ids.filter((id) => parents.has(id) || counts.has(id));
  const wanted = new Set(hits.flatMap((id) => wayOf(id, parents)));
  if (!wanted.size) return { value: { roots: [], children: new Map(), open: [], hits: new Set(), cut: false } };
  const browsed = await call("browse", { where: { ids: [...wanted] }, limit: wanted.size }, { signal });
  if (browsed.error) return browsed;
  return { value: { ...grown(browsed.value, parents, counts, top), hits: new Set(hits), cut: answer.value.hits.length >= MOST_HITS } };
}

/** The trees that these memories make up. */
function grown({ memories, relevance }, parents, counts, top) {
  const branches = new Map(
    memories.map((memory) => [memory.id, { memory, relevance: relevance[memory.id] ?? 0, children_count: counts.get(memory.id) ?? 0 }]),
  );
  const children = new Map();
  const roots = [];
  for (const [id, branch] of branches) {
    const above = branches.get(parents.get(id));
    if (!above || id === top) roots.push(branch);
    else children.set(above.memory.id, [...(children.get(above.memory.id) ?? []), branch]);
  }
  const shown = top && branches.has(top) ? [branches.get(top)] : roots;
  return { roots: shown.sort((one, other) => other.relevance - one.relevance), children, open: [...children.keys()] };
}
