// place: where nodes are before anything is arranged: clusters side by side, loose nodes in a belt around them.
import { otherEnd } from "./model.js";

const GOLDEN = Math.PI * (3 - Math.sqrt(5));
const SPACING = 10;
const BELT_GAP = 1.12;
const MOST_PACKED = 250;
/** Mode -> id -> [x, y]. */
const kept = new Map();

/** Positions as [x0, y0, x1, y1, ...]. Nodes that were placed before stay where they were. */
export function startOf(model, shown) {
  const at = new Float32Array(model.nodes.length * 2);
  const linked = linkedOf(model, shown);
  const groups = groupsOf(model, linked);
  packed(groups, bridgesOf(model, shown, groups)).forEach(([x, y], order) =>
    groups[order].forEach((node, step) => put(at, node, x + spiral(step, Math.cos), y + spiral(step, Math.sin))),
  );
  const places = kept.get(shown.mode) ?? new Map();
  model.nodes.forEach(({ id }, node) => {
    if (places.has(id)) put(at, node, ...places.get(id));
    else if (linked[node]) placeNear(model, node, places, at);
  });
  placeLoose(model, shown, linked, at);
  return at;
}

/** Centres of groups, side by side without overlap, each as near as there is room to those that it is linked with. */
function packed(groups, bridges) {
  const circles = [];
  let edge = 0;
  groups.forEach((members, order) => {
    const radius = SPACING * (Math.sqrt(members.length) + 0.8);
    const [toX, toY] = middleOf(bridges[order], circles);
    let [x, y] = [toX, toY];
    const free = () => circles.every((one) => Math.hypot(one.x - x, one.y - y) > one.radius + radius);
    if (order >= MOST_PACKED) {
      const angle = order * GOLDEN;
      const distance = edge + 2 * SPACING + SPACING * 2 * Math.sqrt(order - MOST_PACKED);
      [x, y] = [distance * Math.cos(angle), distance * Math.sin(angle)];
    } else {
      for (let step = 1; !free(); step += 1) {
        const distance = SPACING * Math.sqrt(step);
        [x, y] = [toX + distance * Math.cos(step * GOLDEN), toY + distance * Math.sin(step * GOLDEN)];
      }
      edge = Math.max(edge, Math.hypot(x, y) + radius);
    }
    circles.push({ x, y, radius });
  });
  return circles.map(({ x, y }) => [x, y]);
}

function middleOf(bridges, circles) {
  let [x, y, sum] = [0, 0, 0];
  for (const [other, weight] of bridges) {
    if (!circles[other]) continue;
    x += weight * circles[other].x;
    y += weight * circles[other].y;
    sum += weight;
  }
  return sum ? [x / sum, y / sum] : [0, 0];
}

/** For each group, how many links lead to each other group. */
function bridgesOf(model, shown, groups) {
  const groupOf = new Map(groups.flatMap((members, order) => members.map((node) => [node, order])));
  const bridges = groups.map(() => new Map());
  model.links.forEach(({ source, target }, link) => {
    const [one, other] = [groupOf.get(source), groupOf.get(target)];
    if (!shown.links[link] || one === other) return;
    bridges[one].set(other, (bridges[one].get(other) ?? 0) + 1);
    bridges[other].set(one, (bridges[other].get(one) ?? 0) + 1);
  });
  return bridges;
}

/** A new node begins beside one that has its place. */
function placeNear(model, node, places, at) {
  const ends = model.near[node].map((link) => model.nodes[otherEnd(model.links[link], node)].id);
  const old = ends.map((id) => places.get(id)).find(Boolean);
  if (old) put(at, node, old[0] + spiral(node % 7, Math.cos), old[1] + spiral(node % 7, Math.sin));
}

function spiral(step, turn) {
  return SPACING * Math.sqrt(step) * turn(step * GOLDEN);
}

function put(at, node, x, y) {
  at[2 * node] = x;
  at[2 * node + 1] = y;
}

/** For each node 1 if a link in sight touches it. */
export function linkedOf(model, shown) {
  const linked = new Uint8Array(model.nodes.length);
  model.links.forEach(({ source, target }, link) => {
    if (shown.links[link] && source !== target) linked[source] = linked[target] = 1;
  });
  return linked;
}

/** The linked nodes by cluster, the largest first; in each, the most relevant first. */
function groupsOf(model, linked) {
  const groups = new Map();
  model.nodes.forEach((node, at) => {
    if (!linked[at]) return;
    if (!groups.has(node.cluster)) groups.set(node.cluster, []);
    groups.get(node.cluster).push(at);
  });
  const sorted = [...groups.values()].sort((one, other) => other.length - one.length);
  for (const members of sorted) members.sort((one, other) => model.nodes[other].relevance - model.nodes[one].relevance);
  return sorted;
}

/** Nodes without links fill a belt around the others, by project and kind. */
export function placeLoose(model, shown, linked, at) {
  const { x, y, radius } = circleAround(linked, at);
  const loose = [...linked.keys()].filter((node) => shown.nodes[node] && !linked[node]);
  const name = (node) => `${model.nodes[node].project}\n${model.nodes[node].kind}`;
  const names = new Map(loose.map((node) => [node, name(node)]));
  loose.sort((one, other) => (names.get(one) < names.get(other) ? -1 : names.get(one) > names.get(other) ? 1 : one - other));
  const cell = radius ? (Math.PI * radius * radius) / Math.max(1, linked.length - loose.length) : SPACING * SPACING * Math.PI;
  const inner = radius * BELT_GAP;
  const outer = Math.sqrt(inner * inner + (loose.length * cell) / Math.PI);
  loose.forEach((node, step) => {
    const share = (step * 0.6180339887) % 1;
    const distance = Math.sqrt(inner * inner + share * (outer * outer - inner * inner));
    const angle = (2 * Math.PI * step) / loose.length;
    put(at, node, x + distance * Math.cos(angle), y + distance * Math.sin(angle));
  });
}

function circleAround(linked, at) {
  let [x, y, count, radius] = [0, 0, 0, 0];
  linked.forEach((is, node) => is && ((x += at[2 * node]), (y += at[2 * node + 1]), (count += 1)));
  if (!count) return { x: 0, y: 0, radius: 0 };
  [x, y] = [x / count, y / count];
  linked.forEach((is, node) => is && (radius = Math.max(radius, Math.hypot(at[2 * node] - x, at[2 * node + 1] - y))));
  return { x, y, radius };
}

/** Keep where nodes are now, for the next time that the map is opened. */
export function keepPlaces(model, shown, at) {
  const linked = linkedOf(model, shown);
  const places = new Map(kept.get(shown.mode));
  model.nodes.forEach(({ id }, node) => linked[node] && places.set(id, [at[2 * node], at[2 * node + 1]]));
  kept.set(shown.mode, places);
}

/** Whether every linked node has a place from before. */
export function allPlaced(model, shown) {
  const linked = linkedOf(model, shown);
  return model.nodes.every(({ id }, node) => !linked[node] || kept.get(shown.mode)?.has(id));
}
