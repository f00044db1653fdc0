// arrange: linked nodes pull each other together, all others push apart. It runs in a worker and ends by itself.
import Graph from "graphology";
import forceAtlas2 from "graphology-layout-forceatlas2";
import Layout from "graphology-layout-forceatlas2/worker";
import { linkedOf, placeLoose } from "./place.js";

/** How strong links pull, against the pull to the middle: weaker links make wider groups. */
const PULL = 0.15;
const QUIET_SHARE = 0.00025;
const FEWEST_ROUNDS = 80;
const MOST_ROUNDS = 500;
const MOST_MILLISECONDS = 20_000;
const LOOK_MILLISECONDS = 100;

/** Begin; returns the function that stops it. at: positions to begin with. onMove(positions): now and then.
 * onEnd(positions): at the end, and when it is stopped. */
export function arrange(model, shown, at, { onMove, onEnd }) {
  const linked = linkedOf(model, shown);
  const graph = hidden(model, shown, linked, at);
  const positions = at.slice();
  if (!graph.size) {
    placeLoose(model, shown, linked, positions);
    onEnd(positions);
    return () => {};
  }
  const layout = new Layout(graph, { settings: settingsFor(graph.order), getEdgeWeight: "weight" });
  const begin = performance.now();
  let rounds = 0;
  let seen = 0;
  graph.on("eachNodeAttributesUpdated", () => (rounds += 1));
  layout.start();

  const look = () => {
    if (rounds === seen) return;
    const moved = take(graph, positions) / Math.max(1, rounds - seen);
    seen = rounds;
    placeLoose(model, shown, linked, positions);
    const quiet = rounds > FEWEST_ROUNDS && moved < QUIET_SHARE;
    if (quiet || rounds > MOST_ROUNDS || performance.now() - begin > MOST_MILLISECONDS) stop();
    else onMove(positions);
  };
  const timer = setInterval(look, LOOK_MILLISECONDS);
  let stopped = false;
  function stop() {
    if (stopped) return;
    stopped = true;
    clearInterval(timer);
    layout.kill();
    onEnd(positions);
  }
  return stop;
}

function settingsFor(order) {
  return { ...forceAtlas2.inferSettings(order), barnesHutOptimize: order > 500, barnesHutTheta: 0.8, gravity: 0.08, slowDown: 1 + Math.log(order) / 3 };
}

/** A graph that nobody watches, so that a round of the worker draws nothing. */
function hidden(model, shown, linked, at) {
  const graph = new Graph({ type: "undirected" });
  linked.forEach((is, node) => is && graph.addNode(node, { x: at[2 * node], y: at[2 * node + 1] }));
  model.links.forEach(({ source, target, weight }, link) => {
    if (shown.links[link] && source !== target) graph.mergeUndirectedEdge(source, target, { weight: PULL * (weight || 1) });
  });
  return graph;
}

/** Copy the positions; returns how far nodes moved on average, as a share of the whole. */
function take(graph, positions) {
  let moved = 0;
  let [low, high] = [Infinity, -Infinity];
  graph.forEachNode((node, { x, y }) => {
    moved += Math.abs(x - positions[2 * node]) + Math.abs(y - positions[2 * node + 1]);
    positions[2 * node] = x;
    positions[2 * node + 1] = y;
    if (x < low) low = x;
    if (x > high) high = x;
  });
  return moved / graph.order / Math.max(1e-9, high - low);
}
