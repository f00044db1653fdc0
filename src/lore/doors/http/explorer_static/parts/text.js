// text: texts of memories: always as text, with matching words marked, or with what changed between two.
import { html } from "htm/preact";

const WORD = /[\p{L}\p{N}_]+/gu;
const COMMON = new Set(
  "a an and are as at be been but by can did do does for from had has have how i if in is it its me my not of on or our so that the their then there these they this to us was we were what when where which who why will with you your".split(" "),
);
const PIECES = /(\s+)/;
const MOST_COMPARED = 400;

/** The telling words of a question, in lower case. */
export function wordsOf(query) {
  const words = (query.toLowerCase().match(WORD) ?? []).filter((word) => word.length > 1);
  const telling = words.filter((word) => !COMMON.has(word));
  return new Set(telling.length ? telling : words);
}

function stem(word) {
  return word.length > 4 ? word.replace(/(?:ing|ed|es|s)$/u, "") : word;
}

/** A text with the words of the question marked. */
export function Marked({ text, words }) {
  if (!words?.size) return text;
  const stems = new Set([...words].map(stem));
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(WORD)) {
    const word = match[0].toLowerCase();
    if (!words.has(word) && !stems.has(stem(word))) continue;
    parts.push(text.slice(end, match.index), html`<mark>${match[0]}</mark>`);
    end = match.index + match[0].length;
  }
  return html`${parts}${text.slice(end)}`;
}

/** The passage of a text that has most words of the question, cut to about `length` characters. */
export function passageOf(text, words, length = 280) {
  const tidy = text.replace(/\s+/g, " ").trim();
  if (tidy.length <= length) return tidy;
  const stems = new Set([...words].map(stem));
  const places = [...tidy.matchAll(WORD)].filter(([word]) => stems.has(stem(word.toLowerCase())));
  let best = 0;
  let most = 0;
  for (const { index } of places) {
    const inside = places.filter((other) => other.index >= index && other.index < index + length * 0.8);
    const different = new Set(inside.map(([word]) => stem(word.toLowerCase()))).size;
    if (different > most) [best, most] = [index, different];
  }
  const from = Math.max(0, best - Math.round(length / 5));
  const start = from ? tidy.indexOf(" ", from) + 1 : 0;
  const cut = tidy.slice(start, start + length);
  const end = start + length < tidy.length ? cut.slice(0, cut.lastIndexOf(" ") + 1).trimEnd() + " …" : cut;
  return (start ? "… " : "") + end;
}

/** What changed between two texts, word by word. */
export function Difference({ before, after }) {
  const parts = compare(before.split(PIECES), after.split(PIECES));
  return html`<span class="prose">${parts.map(([kind, text], at) =>
    kind === "same" ? text : kind === "was" ? html`<del class="was" key=${at}>${text}</del>` : html`<ins class="is" key=${at}>${text}</ins>`,
  )}</span>`;
}

/** List of ["same" | "was" | "is", text], from the longest common run of pieces. */
function compare(old, now) {
  let start = 0;
  while (start < Math.min(old.length, now.length) && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < Math.min(old.length, now.length) - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const middle = [old.slice(start, old.length - end), now.slice(start, now.length - end)];
  const inner = middle.some((side) => side.length > MOST_COMPARED)
    ? [["was", middle[0].join("")], ["is", middle[1].join("")]]
    : aligned(...middle);
  const parts = [["same", old.slice(0, start).join("")], ...inner, ["same", old.slice(old.length - end).join("")]];
  return parts.filter(([, text]) => text);
}

function aligned(old, now) {
  const best = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      best[i][j] = old[i] === now[j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
    }
  }
  const parts = [];
  const add = (kind, text) => (parts.at(-1)?.[0] === kind ? (parts.at(-1)[1] += text) : parts.push([kind, text]));
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) add("same", old[(i += 1) - 1]), (j += 1);
    else if (j >= now.length || (i < old.length && best[i + 1][j] >= best[i][j + 1])) add("was", old[(i += 1) - 1]);
    else add("is", now[(j += 1) - 1]);
  }
  return parts;
}
