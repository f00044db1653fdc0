// forest: the roots, and the children of what was opened; all of it again after a change in the store.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { call } from "../../api.js";
import { useLoad } from "../../load.js";
import { wayOf, waysUp } from "./ways.js";

const TREE_KINDS = ["fragment", "entity", "file", "reflection"];

/** {roots, error, childrenOf(id), load(id), start, reload}. top: the memory to begin with; "" for all trees. */
export function useForest({ top, kind, limit }) {
  const children = useRef(new Map());
  const [, draw] = useState(0);
  const load = useCallback(async (id) => {
    const { value, error } = await call("explore", { id, depth: 1 });
    if (value || error?.kind === "NotFound") children.current.set(id, value?.children ?? []);
    draw((times) => times + 1);
    return value;
  }, []);
  const ask = async (aborts) => {
    await Promise.all([...children.current.keys()].map(load));
    if (!top) return roots(kind, limit, aborts);
    const { value, error } = await call("explore", { id: top, depth: 1 }, { signal: aborts });
    if (value) children.current.set(top, value.children);
    return error ? { error } : { value: [value] };
  };
  const { value, error, reload } = useLoad(ask, JSON.stringify([top, kind, limit]));
  useEffect(() => () => children.current.clear(), []);
  return {
    roots: value, error, reload, load,
    childrenOf: (id) => children.current.get(id),
    start: top ? [top] : [],
  };
}

/** The most relevant roots. Trees come before the many memories that stand alone. */
async function roots(kind, limit, signal) {
  const ask = (where) => call("roots", { limit, where }, { signal });
  if (kind) return ask({ kinds: [kind] });
  const answers = await Promise.all([ask({ kinds: TREE_KINDS }), ask({})]);
  const failed = answers.find((answer) => answer.error);
  if (failed) return failed;
  const byId = new Map(answers.flatMap(({ value }) => value).map((branch) => [branch.memory.id, branch]));
  return { value: [...byId.values()].sort((one, other) => other.relevance - one.relevance) };
}

/** The memories above the chosen one, from its root down, once their children are there to be shown. */
export function useWay(chosen, forest) {
  const [way, setWay] = useState([]);
  useEffect(() => {
    let current = true;
    const find = async () => {
      const { parents } = await waysUp([chosen]);
      const above = parents ? wayOf(chosen, parents).slice(1).reverse() : [];
      await Promise.all(above.filter((id) => !forest.childrenOf(id)).map(forest.load));
      if (current) setWay(above);
    };
    if (chosen) find();
    return () => (current = false);
  }, [chosen]);
  return way;
}
