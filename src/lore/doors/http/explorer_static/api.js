// api: calls of /api/v1. An answer is {value} or {error: {kind, message}}; nothing is thrown.
import { signal } from "./signal.js";

const API = new URL("../../../api/v1/", import.meta.url).pathname;
const UNREACHABLE = "Lore does not answer. It may have stopped: start it again with “lore explorer”.";

/** Who is reading: {name, namespaces, namespace, rights, csrf, version}; null before it is known. */
export const session = signal(null);
/** Whether the reader must sign in before anything is shown. */
export const locked = signal(false);

/** Counts the changes that this window has made. */
export const written = signal(0);

const WRITES = new Set(
  `remember remember_all revise supersede forget forget_where restore rate reflect link unlink review judge undo purge introduce
  observe retract relate unrelate end_relation split retry`.split(/\s+/),
);

export const apiAddress = (path) => API + path;

export function isAborted(answer) {
  return answer.error?.kind === "Aborted";
}

/** Call a verb with its arguments by name. */
export async function call(verb, args = {}, { signal: aborts } = {}) {
  const answer = await request("POST", verb, { json: args, aborts });
  if (WRITES.has(verb) && !answer.error) written.set((count) => count + 1);
  return answer;
}

/** Send a request to a route of /api/v1. json: the body as a value; body: as bytes or a file. */
export async function request(method, path, { json, body, aborts, headers = {} } = {}) {
  const options = { method, signal: aborts, headers: { Accept: "application/json", ...headers } };
  if (json !== undefined) {
    options.body = JSON.stringify(json);
    options.headers["Content-Type"] = "application/json";
  } else if (body !== undefined) {
    options.body = body;
  }
  if (method !== "GET" && session.get()?.csrf) options.headers["X-Lore-CSRF"] = session.get().csrf;
  try {
    return await answerOf(await fetch(API + path, options));
  } catch (problem) {
    if (problem.name === "AbortError") return failure("Aborted", "");
    return failure("Unreachable", UNREACHABLE);
  }
}

async function answerOf(response) {
  const text = await response.text();
  let value = null;
  try {
    value = text ? JSON.parse(text) : null;
  } catch {
    return failure("Failed", `Lore's answer could not be read (${response.status}).`, response.status);
  }
  if (response.ok) return { value };
  if (response.status === 401) locked.set(true);
  const { kind = "Failed", message = response.statusText, ...more } = value?.error ?? {};
  return failure(kind, message, response.status, more);
}

function failure(kind, message, status = 0, more = {}) {
  return { error: { kind, message, status, ...more } };
}

/** Learn who is reading. Where the server has no sessions, everything is allowed. */
export async function loadSession() {
  const { value, error } = await request("GET", "session");
  if (value) session.set(value);
  else if (error.status === 404) session.set({ name: "", namespaces: [], rights: ["read", "write", "admin"], csrf: "" });
  return { value, error };
}

/** Whether the reader has a right; admin has all. */
export function may(right) {
  const rights = session.get()?.rights;
  return !rights || rights.includes(right) || rights.includes("admin");
}
