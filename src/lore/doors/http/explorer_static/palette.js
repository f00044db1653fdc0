// palette: Ctrl+K: go to a page, open a memory, do something.
import { html } from "htm/preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { call, isAborted } from "./api.js";
import { composing } from "./compose.js";
import { labelOf } from "./format.js";
import { PAGES } from "./pages.js";
import { Dialog } from "./parts/dialog.js";
import { Icon } from "./parts/icon.js";
import { go, href } from "./router.js";
import { switchTheme } from "./theme.js";
import { kindIcon, sortName } from "./words.js";
import { Keys } from "./help.js";

const WAIT_MILLISECONDS = 120;
const MEMORIES = 7;

export function Palette({ onClose, onHelp }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const memories = useMemories(text);
  const items = itemsFor(text, memories, onHelp);
  const list = useRef(null);
  useEffect(() => list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }), [at]);
  const run = (item) => (onClose(), item.run());
  const onKeyDown = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) setAt((at + step + items.length) % items.length);
    else if (event.key === "Enter" && items[at]) run(items[at]);
    else return;
    event.preventDefault();
  };
  return html`<${Dialog} title="Search, go, or do something" class="palette" head=${false} onClose=${onClose}>
    <div class="palette-input">
      <${Icon} name="search" />
      <input
        data-first type="text" role="combobox" aria-expanded="true" aria-controls="palette-list" aria-autocomplete="list"
        aria-activedescendant=${items[at] ? `palette-${at}` : undefined} aria-label="Search, go, or do something"
        placeholder="Search memories, go to a page, or do something" value=${text} autocomplete="off" spellcheck="false"
        onInput=${(event) => (setText(event.currentTarget.value), setAt(0))} onKeyDown=${onKeyDown}
      />
    </div>
    <div class="palette-list" id="palette-list" role="listbox" aria-label="Results" ref=${list}>
      ${items.map((item, index) => {
        const heading = item.group !== items[index - 1]?.group && html`<h3 role="presentation">${item.group}</h3>`;
        return html`${heading}<div
            key=${item.key} id=${`palette-${index}`} class="palette-item" role="option" aria-selected=${String(index === at)}
            onPointerMove=${() => setAt(index)} onClick=${() => run(item)}
          >
            <${Icon} name=${item.icon} size="17" /><span class="cut">${item.text}</span>
            <span class="end">${item.keys ? html`<${Keys} keys=${item.keys} />` : item.note}</span>
          </div>`;
      })}
      ${items.length === 0 && html`<p class="state">Nothing fits.</p>`}
    </div>
    <div class="palette-foot" aria-hidden="true"><span><kbd>↑</kbd> <kbd>↓</kbd> choose</span><span><kbd>Enter</kbd> open</span><span><kbd>Esc</kbd> close</span></div>
  <//>`;
}

function itemsFor(text, memories, onHelp) {
  const wanted = text.trim().toLowerCase();
  const fits = (...names) => names.some((name) => name?.toLowerCase().includes(wanted));
  const pages = PAGES.filter((page) => page.group !== "hidden" && fits(page.title, page.about)).map((page) => ({
    key: `page ${page.path}`, group: "Go to", icon: page.icon, text: page.title, keys: page.keys,
    run: () => go(href(...[page.path].filter(Boolean))),
  }));
  const actions = [
    { icon: "plus", text: "Add a memory", keys: "n", run: () => composing.set({ content: wanted ? text.trim() : "" }) },
    { icon: "moon", text: "Light or dark colours", keys: "t", run: switchTheme },
    { icon: "keyboard", text: "Keyboard shortcuts", keys: "?", run: onHelp },
  ].filter((one) => fits(one.text)).map((one) => ({ key: one.text, group: "Do", ...one }));
  if (!wanted) return [...pages, ...actions];
  const found = memories.map(({ memory }) => ({
    key: memory.id, group: "Memories", icon: kindIcon(memory.kind), text: labelOf(memory),
    note: sortName(memory), run: () => go(href("memory", memory.id)),
  }));
  const everything = { key: "all", group: "Search", icon: "search", text: `Search for “${text.trim()}”`, run: () => go(href("search", { q: text.trim() })) };
  const add = { key: "add", group: "Do", icon: "plus", text: `Remember “${text.trim()}”`, run: () => composing.set({ content: text.trim() }) };
  const starts = pages.filter((page) => page.text.toLowerCase().startsWith(wanted));
  return [...starts, ...found, everything, ...pages.filter((page) => !starts.includes(page)), ...actions, add];
}

function useMemories(text) {
  const [hits, setHits] = useState([]);
  useEffect(() => {
    if (!text.trim()) return setHits([]);
    const aborts = new AbortController();
    const timer = setTimeout(async () => {
      const query = { text: text.trim(), limit: MEMORIES, counted: false };
      const answer = await call("search", { query }, { signal: aborts.signal });
      if (!isAborted(answer)) setHits(answer.value?.hits ?? []);
    }, WAIT_MILLISECONDS);
    return () => (clearTimeout(timer), aborts.abort());
  }, [text]);
  return hits;
}
