// overlay: what lies above the dots: names of groups, and the nodes that are lit while the rest is dim.
import { oneLine } from "../../format.js";

const GROUPS_NAMED = 14;
const SMALLEST_GROUP = 4;
const NAMES_OF_LIT = 24;
const DOT = 2 * Math.PI;

/** Draw on a 2D context. place(node) -> {x, y, size} in pixels, or null if it is hidden.
 * lit: null, or {focus: node or -1, nodes, lines: list of [node, node]}. */
export function drawOverlay(context, { width, height, style, place, lit, groups, labelOf, colourOf }) {
  context.clearRect(0, 0, width, height);
  context.lineJoin = "round";
  const taken = [];
  if (lit) drawLit(context, { width, height, style, place, lit, labelOf, colourOf, taken });
  else drawGroups(context, { style, groups, taken, width, height });
}

function drawGroups(context, { style, groups, taken, width, height }) {
  for (const { label, x, y, size } of groups.slice(0, GROUPS_NAMED)) {
    if (size < SMALLEST_GROUP || x < 0 || y < 0 || x > width || y > height) continue;
    write(context, { text: oneLine(label, 26), x, y, font: `600 13px ${style.font}`, centred: true, style, taken });
  }
}

function drawLit(context, { width, height, style, place, lit, labelOf, colourOf, taken }) {
  context.strokeStyle = style.line;
  context.lineWidth = 1.4;
  context.beginPath();
  for (const [one, other] of lit.lines) {
    const [from, to] = [place(one), place(other)];
    if (!from || !to) continue;
    context.moveTo(from.x, from.y);
    context.lineTo(to.x, to.y);
  }
  context.stroke();
  const inSight = ({ x, y }) => x > -40 && y > -40 && x < width + 40 && y < height + 40;
  const placed = lit.nodes.map((node) => ({ node, ...place(node) })).filter((one) => one.size && inSight(one));
  for (const { node, x, y, size } of placed) dot(context, x, y, Math.max(3, size), colourOf(node), style.paper);
  const focus = lit.focus >= 0 ? place(lit.focus) : null;
  if (focus) {
    dot(context, focus.x, focus.y, Math.max(5, focus.size + 1.5), colourOf(lit.focus), style.paper);
    context.strokeStyle = style.accent;
    context.lineWidth = 2;
    context.beginPath();
    context.arc(focus.x, focus.y, Math.max(5, focus.size + 1.5) + 3, 0, DOT);
    context.stroke();
    write(context, { text: labelOf(lit.focus), x: focus.x + focus.size + 9, y: focus.y, font: `600 13px ${style.font}`, style, taken });
  }
  for (const { node, x, y, size } of placed.slice(0, NAMES_OF_LIT)) {
    if (node !== lit.focus) write(context, { text: labelOf(node), x: x + size + 5, y, font: `500 12px ${style.font}`, style, taken });
  }
}

function dot(context, x, y, size, colour, paper) {
  context.beginPath();
  context.arc(x, y, size, 0, DOT);
  context.fillStyle = colour;
  context.fill();
  context.strokeStyle = paper;
  context.lineWidth = 1.2;
  context.stroke();
}

/** Write with a halo, unless something is written there already. */
function write(context, { text, x, y, font, centred = false, style, taken }) {
  context.font = font;
  const width = context.measureText(text).width;
  const left = centred ? x - width / 2 : x;
  const box = [left - 4, y - 10, left + width + 4, y + 10];
  if (taken.some((other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1])) return;
  taken.push(box);
  context.textBaseline = "middle";
  context.lineWidth = 4;
  context.strokeStyle = style.paper;
  context.strokeText(text, left, y);
  context.fillStyle = style.ink;
  context.fillText(text, left, y);
}
