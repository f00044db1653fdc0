// results_load: the parameters of the address -> what the server is asked -> the hits on the page.
import { call } from "../../api.js";
import { dayStart } from "../../format.js";
import { useLoad, useVerb } from "../../load.js";

const FIRST = 20;
const STEP = 30;
const MOST = 200;
const REFINED_FROM = 100;
const TRUST_ABOVE = { trusted: 0.8, second: 0.5 };

export const listOf = (value) => (value ? value.split(",").filter(Boolean) : []);

/** The questions whose results are searched. */
export const questionsOf = (params) => (params.in ? params.in.split("\n").filter(Boolean) : []);

/** The parameters as the server's filter. */
export function filterOf(params) {
  const states = listOf(params.state);
  const where = {
    projects: listOf(params.project),
    kinds: listOf(params.kind),
    types: listOf(params.type),
    superseded: states.includes("replaced"),
    forgotten: states.includes("forgotten"),
  };
  if (params.days) where.created_after = dayStart(Number(params.days) - 1);
  if (params.under) where.under = params.under;
  return where;
}

/** {hits, answer, more, loading, error, reload, below}: hits have score and signals where there is a question. */
export function useResults(params) {
  const limit = Math.min(MOST, FIRST + STEP * Number(params.more || 0));
  const load = useLoad((aborts) => ask(params, limit, aborts), JSON.stringify([params, limit]));
  const hits = load.value?.hits.filter((hit) => isTrusted(hit.memory, params.trust));
  const ids = hits?.map((hit) => hit.memory.id) ?? [];
  const below = useVerb("count_below", ids.length ? { ids } : null).value ?? {};
  return { ...load, hits, below, more: load.value?.more && limit < MOST, answer: load.value?.answer };
}

function isTrusted(memory, trust) {
  return !trust || memory.trust >= TRUST_ABOVE[trust];
}

async function ask(params, limit, aborts) {
  const where = filterOf(params);
  for (const text of questionsOf(params)) {
    const answer = await search({ text, where, limit: REFINED_FROM }, aborts);
    if (answer.error) return answer;
    where.ids = answer.value.hits.map((hit) => hit.memory.id);
    if (!where.ids.length) return { value: { hits: [], more: false } };
  }
  return params.q ? search({ text: params.q, where, limit }, aborts) : browse(params, where, limit, aborts);
}

async function search(query, aborts) {
  const { value, error } = await call("search", { query: { ...query, counted: false } }, { signal: aborts });
  return error ? { error } : { value: { hits: value.hits, answer: value, more: value.cut > 0 } };
}

async function browse(params, where, limit, aborts) {
  const { value, error } = await call("browse", { where, limit, order: params.order || "newest" }, { signal: aborts });
  if (error) return { error };
  const hits = value.memories.map((memory) => ({ memory, relevance: value.relevance[memory.id] ?? 0 }));
  return { value: { hits, more: value.more } };
}
