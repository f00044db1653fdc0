// tree: a tree widget. Arrows move, open and close; Enter opens the memory; letters jump to a title.
import { html } from "htm/preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { labelOf, number, percent } from "../../format.js";
import { Icon } from "../../parts/icon.js";
import { Bar } from "../../parts/score.js";
import { Marked } from "../../parts/text.js";
import { kindIcon } from "../../words.js";

const JUMP_MILLISECONDS = 700;

/** roots: branches {memory, relevance, children_count}. childrenOf(id): the branches below, or undefined before
 * load(id). start: ids that are open at first. hits: ids that stand out; words: to mark in them. */
export function Tree({ label, roots, childrenOf, load, start, chosen, words, hits, onChoose, onOpen }) {
  const [open, setOpen] = useState(() => new Set(start));
  const box = useRef(null);
  const jump = useRef({ text: "", at: 0 });
  const wanted = start?.join();
  useEffect(() => setOpen((old) => new Set([...old, ...(start ?? [])])), [wanted]);
  const rows = rowsOf(roots, open, childrenOf);
  const focused = rows.find((row) => row.id === chosen)?.id ?? rows[0]?.id;

  const setIsOpen = (row, on) => {
    if (on && !childrenOf(row.id)) load(row.id);
    setOpen((old) => new Set(on ? [...old, row.id] : [...old].filter((id) => id !== row.id)));
  };
  const focus = (row) => {
    if (!row) return;
    onChoose(row.id, false);
    box.current.querySelector(`[data-id="${CSS.escape(row.id)}"]`)?.focus();
  };
  const onKeyDown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = rows.findIndex((row) => row.id === event.target.dataset.id);
    if (at < 0) return;
    const row = rows[at];
    const moves = {
      ArrowDown: () => focus(rows[at + 1]),
      ArrowUp: () => focus(rows[at - 1]),
      Home: () => focus(rows[0]),
      End: () => focus(rows.at(-1)),
      ArrowRight: () => (row.open ? focus(rows[at + 1]?.level > row.level ? rows[at + 1] : null) : row.branch.children_count && setIsOpen(row, true)),
      ArrowLeft: () => (row.open ? setIsOpen(row, false) : focus(rows.slice(0, at).findLast((one) => one.level < row.level))),
      Enter: () => onOpen(row.id),
      " ": () => onChoose(row.id, true),
      "*": () => rows.filter((one) => one.above === row.above && one.branch.children_count).forEach((one) => setIsOpen(one, true)),
    };
    if (moves[event.key]) moves[event.key]();
    else if (event.key.length === 1 && /\S/.test(event.key)) focus(jumped(rows, at, event.key, jump.current));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return html`<ul class="tree" role="tree" aria-label=${label} ref=${box} onKeyDown=${onKeyDown}>
    ${rows.map(
      (row) => html`<${Row}
        key=${row.key} row=${row} chosen=${row.id === chosen} focused=${row.id === focused} words=${words}
        dim=${hits?.size > 0 && !hits.has(row.id)} onToggle=${() => setIsOpen(row, !row.open)} onChoose=${() => onChoose(row.id, true)}
      />`,
    )}
  </ul>`;
}

function Row({ row, chosen, focused, dim, words, onToggle, onChoose }) {
  const { memory, relevance, children_count: below } = row.branch;
  const toggle = (event) => (event.stopPropagation(), onToggle());
  return html`<li
    role="treeitem" class=${`tree-row ${dim ? "dim" : ""}`} data-id=${row.id} aria-level=${row.level} aria-setsize=${row.size}
    aria-posinset=${row.place} aria-expanded=${below ? String(row.open) : undefined} aria-selected=${String(chosen)}
    tabindex=${focused ? 0 : -1} style=${{ "--level": row.level }} onClick=${onChoose} onDblClick=${below ? onToggle : undefined}
  >
    <span class="tree-toggle" aria-hidden="true" onClick=${below ? toggle : undefined}>
      ${below > 0 && html`<${Icon} name=${row.open ? "below" : "right"} size="15" />`}
    </span>
    <${Icon} name=${kindIcon(memory.kind)} size="15" />
    <span class="cut grow"><${Marked} text=${labelOf(memory, 160)} words=${dim ? null : words} /></span>
    ${below > 0 && html`<span class="count" title="Memories directly below">${number(below)}<span class="hidden-text"> below</span></span>`}
    <span class="bar-line tree-relevance" title=${`${percent(relevance)} present`}><${Bar} share=${relevance} quiet /></span>
  </li>`;
}

/** What is in sight, from top to bottom. */
function rowsOf(roots, open, childrenOf) {
  const rows = [];
  const add = (branches, level, above) =>
    branches.forEach((branch, at) => {
      const { id } = branch.memory;
      if (above.includes(`/${id}`)) return;
      const isOpen = open.has(id) && branch.children_count > 0;
      rows.push({ id, key: `${above}/${id}`, branch, level, above, size: branches.length, place: at + 1, open: isOpen });
      if (isOpen) add(childrenOf(id) ?? [], level + 1, `${above}/${id}`);
    });
  add(roots, 1, "");
  return rows;
}

/** The next row whose title begins with what was typed. */
function jumped(rows, at, key, state) {
  const now = performance.now();
  state.text = now - state.at < JUMP_MILLISECONDS ? state.text + key : key;
  state.at = now;
  const wanted = state.text.toLowerCase();
  const from = state.text.length > 1 ? at : at + 1;
  return [...rows.slice(from), ...rows.slice(0, from)].find((row) => labelOf(row.branch.memory).toLowerCase().startsWith(wanted));
}
