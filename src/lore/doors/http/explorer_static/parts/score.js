// score: why a memory was found, as bars with plain words.
import { html } from "htm/preact";
import { percent } from "../format.js";
import { signalWords } from "../words.js";

const MATCH = "match";
const SHOWN_ABOVE = 0.01;
const BASELINES = { neighbour_support: 0.25 };

/** The reasons behind a hit: list of {name, text, help, share}, the weightiest first. share: of the whole score.
 * A strength that every memory has is no reason. */
export function reasonsOf(hit) {
  const points = (signal) => Math.max(0, signal.strength * signal.weight);
  const evidence = Object.entries(hit.evidence ?? {}).filter(
    ([name, signal]) => points(signal) > 0 && signal.strength > (BASELINES[name] ?? 0),
  );
  const sum = evidence.reduce((total, [, signal]) => total + points(signal), 0);
  const reasons = [];
  for (const [name, signal] of Object.entries(hit.signals)) {
    if (name !== MATCH) reasons.push({ name, points: points(signal) });
    else if (!sum) reasons.push({ name: "meaning", points: points(signal) });
    else {
      for (const [part, one] of evidence) {
        reasons.push({ name: part, points: (points(signal) * points(one)) / sum });
      }
    }
  }
  const total = reasons.reduce((whole, one) => whole + one.points, 0) || 1;
  const shares = reasons.map((one) => {
    const [text, help] = signalWords(one.name, hit.memory);
    return { name: one.name, text, help, share: one.points / total };
  });
  return shares.filter((one) => one.share > SHOWN_ABOVE).sort((one, other) => other.share - one.share);
}

/** The score as a short bar with its number. */
export function Score({ score }) {
  return html`<span class="score" title="How well this fits, out of 100">
    <span class="bar-line"><${Bar} share=${score} /></span>
    <span class="score-number">${Math.round(Math.min(1, Math.max(0, score)) * 100)}</span>
    <span class="hidden-text">of 100 points</span>
  </span>`;
}

/** The filled part of a bar. */
export function Bar({ share, quiet }) {
  return html`<span class=${quiet ? "quiet" : ""} style=${{ width: percent(share) }}></span>`;
}

/** All reasons for a hit, each with its share of the score. */
export function Reasons({ hit }) {
  const reasons = reasonsOf(hit);
  const most = reasons[0]?.share || 1;
  return html`<ul class="reasons">
    ${reasons.map(
      (one) => html`<li key=${one.name}>
        <div class="row spread">
          <span class="reason">${one.text}</span>
          <span class="faint small">${percent(one.share)}</span>
        </div>
        <div class="bar-line"><${Bar} share=${one.share / most} /></div>
        <p class="faint small">${one.help}</p>
      </li>`,
    )}
  </ul>`;
}

/** The two or three weightiest reasons in one line. */
export function ShortReasons({ hit }) {
  const names = [...new Set(reasonsOf(hit).map((one) => one.text))].slice(0, 2);
  return html`<span>${names.join(" · ")}</span>`;
}
