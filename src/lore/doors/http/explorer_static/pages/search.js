// search: a question, filters, results, and why each was found. The address holds all of it.
import { html } from "htm/preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useKeys } from "../keys.js";
import { useVerb } from "../load.js";
import { Button, Segments } from "../parts/button.js";
import { Chip } from "../parts/chip.js";
import { Icon } from "../parts/icon.js";
import { Page } from "../parts/page.js";
import { setParams } from "../router.js";
import { useSignal } from "../signal.js";
import { signal } from "../signal.js";
import { labelOf } from "../format.js";
import { Filters } from "./search/filters.js";
import { Results } from "./search/results.js";
import { questionsOf, useResults } from "./search/results_load.js";

const WAIT_MILLISECONDS = 220;
const ORDERS = [["newest", "Newest"], ["importance", "Most important"], ["use", "Most used"]];
const media = matchMedia("(min-width: 75rem)");
const wide = signal(media.matches);
media.addEventListener("change", () => wide.set(media.matches));

export default function Search({ route }) {
  const { params } = route;
  const [at, setAt] = useState(0);
  const list = useRef(null);
  const field = useRef(null);
  const results = useResults(params);
  const isWide = useSignal(wide);
  useEffect(() => setAt(0), [JSON.stringify(params)]);
  useResultKeys({ list, field, results, at, params });
  return html`<${Page} title="Search" bare width=${isWide ? "broad" : ""}>
    <h1 class="hidden-text" tabindex="-1">Search</h1>
    <${Question} params=${params} fieldRef=${field} list=${list} />
    <div class="row wrap spread">
      <${Filters} params=${params} />
      ${!params.q && html`<${Segments} label="Order" options=${ORDERS} value=${params.order || "newest"} onChange=${(order) => setParams({ order })} />`}
    </div>
    <${Path} params=${params} />
    <${Results} results=${results} params=${params} at=${at} onAt=${setAt} wide=${isWide} listRef=${list} />
  <//>`;
}

/** The field of the question; the search follows while somebody types. */
function Question({ params, fieldRef, list }) {
  const [text, setText] = useState(params.q ?? "");
  const timer = useRef(0);
  const sent = useRef(params.q ?? "");
  useEffect(() => {
    if ((params.q ?? "") !== sent.current) setText((sent.current = params.q ?? ""));
  }, [params.q]);
  useEffect(() => fieldRef.current?.focus(), []);
  const send = (value) => {
    clearTimeout(timer.current);
    sent.current = value.trim();
    setParams({ q: sent.current });
  };
  const input = (value) => {
    setText(value);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => send(value), WAIT_MILLISECONDS);
  };
  const onKeyDown = (event) => {
    if (event.key === "Enter") send(text);
    else if (event.key === "ArrowDown") list.current?.querySelector("a")?.focus();
    else if (event.key === "Escape" && text) input("");
    else return;
    event.preventDefault();
  };
  return html`<search class="question">
    <${Icon} name="search" size="20" />
    <input
      ref=${fieldRef} type="text" inputmode="search" enterkeyhint="search" aria-label="What are you looking for?" autocomplete="off" spellcheck="false"
      placeholder=${params.in ? "Search within these results" : "What are you looking for?"} value=${text}
      onInput=${(event) => input(event.currentTarget.value)} onKeyDown=${onKeyDown}
    />
    ${text ? html`<${Button} icon="close" look="quiet" small label="Clear the question" onClick=${() => (input(""), fieldRef.current.focus())} />` : html`<kbd aria-hidden="true">/</kbd>`}
  </search>`;
}

/** What the results are limited to: earlier questions, and a memory whose tree is searched. */
function Path({ params }) {
  const earlier = questionsOf(params);
  const { value } = useVerb("read_many", params.under ? { ids: [params.under] } : null);
  if (!earlier.length && !params.under) return null;
  const top = value?.[0];
  return html`<div class="row wrap" aria-label="Limited to" role="group">
    ${earlier.map(
      (question, index) => html`<${Chip} key=${index} tone="accent" icon="filter" removeLabel=${`No longer within “${question}”`}
        onRemove=${() => setParams({ in: earlier.filter((_, other) => other !== index).join("\n") }, {})}
      >Within “${question}”<//>`,
    )}
    ${params.under &&
    html`<${Chip} tone="accent" icon="tree" removeLabel="Search everywhere again" onRemove=${() => setParams({ under: "" }, {})}>
      Below “${top ? labelOf(top.memory, 50) : "…"}”
    <//>`}
  </div>`;
}

function useResultKeys({ list, field, results, at, params }) {
  const links = () => [...(list.current?.querySelectorAll(".hit-link") ?? [])];
  const move = (step) => {
    const all = links();
    if (!all.length) return false;
    const focused = all.indexOf(document.activeElement);
    const next = focused < 0 ? (step > 0 ? at : -1) : focused + step;
    if (next < 0) return void field.current?.focus();
    return void all[Math.min(next, all.length - 1)].focus();
  };
  const current = () => results.hits?.[at];
  useKeys([
    { keys: "/", label: "Type a question", run: () => (field.current?.focus(), field.current?.select()) },
    { keys: "ArrowDown, j", label: "Next result", run: () => move(1) },
    { keys: "ArrowUp, k", label: "Result before", run: () => move(-1) },
    { keys: "Enter", label: "Open the result", run: () => (links()[at] ? void links()[at].click() : false) },
    {
      keys: "ArrowRight, l",
      label: "Look below it in its tree",
      run: () => (current() && results.below[current().memory.id] ? void setParams({ under: current().memory.id }, {}) : false),
    },
    { keys: "ArrowLeft, h", label: "Back up", run: () => (params.under ? void history.back() : false) },
  ]);
}
