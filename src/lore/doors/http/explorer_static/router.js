// router: the address names a page, its object and its choices; links inside the explorer load no document.
import { signal, useSignal } from "./signal.js";

export const ROOT = new URL("../../", import.meta.url).pathname;

const route = signal(parse());

function parse() {
  const path = location.pathname.startsWith(ROOT) ? location.pathname.slice(ROOT.length) : "";
  const [page, ...rest] = path.split("/").filter(Boolean).map(decoded);
  return { page: page ?? "", rest, params: Object.fromEntries(new URLSearchParams(location.search)) };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** {page, rest, params}: the first part of the address, the other parts, and its parameters. */
export function useRoute() {
  return useSignal(route);
}

export function currentRoute() {
  return route.get();
}

/** The address of a page: href("memory", id) or href("search", {q: "tea"}). Empty parameters are left out. */
export function href(...parts) {
  const params = typeof parts.at(-1) === "object" ? parts.pop() : {};
  const set = Object.entries(params).filter(([, value]) => value !== "" && value != null);
  const query = new URLSearchParams(set).toString();
  return ROOT + parts.map(encodeURIComponent).join("/") + (query ? `?${query}` : "");
}

/** Go to an address made by `href`. replace: without an entry of its own in the browser's history. */
export function go(address, { replace = false } = {}) {
  if (address === location.pathname + location.search) return;
  const page = route.get().page;
  history[replace ? "replaceState" : "pushState"](null, "", address);
  route.set(parse());
  if (!replace && (page !== route.get().page || route.get().rest.length)) scrollTo(0, 0);
}

/** Change parameters of the present address. */
export function setParams(changes, options = { replace: true }) {
  const { page, rest, params } = route.get();
  go(href(...[page, ...rest].filter(Boolean), { ...params, ...changes }), options);
}

addEventListener("popstate", () => route.set(parse()));

addEventListener("click", (event) => {
  if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const anchor = event.target.closest?.("a[href]");
  if (!anchor || anchor.target || anchor.hasAttribute("download")) return;
  if (anchor.origin !== location.origin || !anchor.pathname.startsWith(ROOT)) return;
  event.preventDefault();
  go(anchor.pathname + anchor.search);
});
