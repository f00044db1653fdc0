// find: the conversations that the filters of the page leave, the newest first, or those in which a text was said.
import { call } from "../../api.js";
import { useLoad, useVerb } from "../../load.js";

export const STEP = 30;
const PAGE = 200;
const MOST_PAGES = 25;
const HITS = 100;

/** {created_after, created_before} of a day "YYYY-MM-DD" in the reader's time zone; empty without one. */
export function daySpan(day) {
  const [year, month, date] = (day ?? "").split("-").map(Number);
  if (!year || !month || !date) return {};
  const at = (offset) => new Date(year, month - 1, date + offset).getTime() / 1000;
  return { created_after: at(0), created_before: at(1) };
}

/** The rows of the list: {value: {rows: [{session, passage}], more}, turns: {id: number}, …} of `useLoad`. */
export function useSessions(params) {
  const wanted = STEP * (1 + Number(params.more || 0));
  const { q, project, day } = params;
  const load = useLoad((aborts) => (q ? spoken(params, aborts) : browsed(params, wanted, aborts)), JSON.stringify([q, project, day, wanted]));
  const ids = load.value?.rows.map((row) => row.session.id) ?? [];
  const turns = useVerb("count_below", ids.length ? { ids, where: { kinds: ["turn", "lore-call"] } } : null).value ?? {};
  return { ...load, turns };
}

function whereOf({ project, day }) {
  return { ...daySpan(day), ...(project ? { projects: [project] } : {}) };
}

/** The server's filter lets pass what has no project; only those of the very project are shown. */
function ofProject(sessions, project) {
  return project ? sessions.filter((one) => one.project === project) : sessions;
}

async function browsed(params, wanted, aborts) {
  const where = { ...whereOf(params), kinds: ["session"] };
  const found = [];
  let cursor = "";
  let more = true;
  for (let page = 0; more && found.length < wanted && page < MOST_PAGES; page += 1) {
    const { value, error } = await call("browse", { where, limit: PAGE, cursor }, { signal: aborts });
    if (error) return { error };
    found.push(...ofProject(value.memories, params.project));
    ({ cursor, more } = value);
  }
  const rows = found.slice(0, wanted).map((session) => ({ session }));
  return { value: { rows, more: more || found.length > wanted } };
}

/** Conversations with a turn or a title that fits, the best first, each with its best passage. */
async function spoken(params, aborts) {
  const query = { text: params.q, where: { ...whereOf(params), kinds: ["session", "turn"] }, limit: HITS, counted: false };
  const { value, error } = await call("search", { query }, { signal: aborts });
  if (error) return { error };
  const passages = new Map();
  for (const { memory } of value.hits) {
    if (memory.session && !passages.get(memory.session)) passages.set(memory.session, memory.kind === "turn" ? memory : undefined);
  }
  if (!passages.size) return { value: { rows: [], more: false } };
  const where = { kinds: ["session"], sessions: [...passages.keys()] };
  const headings = await call("browse", { where, limit: PAGE }, { signal: aborts });
  if (headings.error) return headings;
  const places = [...passages.keys()];
  const found = ofProject(headings.value.memories, params.project).sort((one, other) => places.indexOf(one.session) - places.indexOf(other.session));
  return { value: { rows: found.map((session) => ({ session, passage: passages.get(session.session) })), more: false } };
}
