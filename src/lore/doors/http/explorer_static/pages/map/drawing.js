// drawing: the map with sigma (WebGL). Lighting a few nodes dims the whole layer instead of changing every node.
import Graph from "graphology";
import Sigma from "sigma";
import { EdgeLineProgram, NodePointProgram } from "sigma/rendering";
import { oneLine } from "../../format.js";
import { colour } from "../../theme.js";
import { otherEnd } from "./model.js";
import { drawOverlay } from "./overlay.js";
import { linkedOf } from "./place.js";
import { Sliding } from "./sliding.js";

const LABEL_LENGTH = 42;
const FEW_NODES = 40;
const NEAR_RATIO = 0.5;
const MOVE_REST_MILLISECONDS = 250;
const LAYERS = ["edges", "nodes", "labels"];
const SLIDING_LAYERS = [...LAYERS, "lit"];
const UNUSED_LAYERS = ["edgeLabels", "hovers", "hoverNodes"];
const LARGE = 600;
/** Points and lines instead of triangles: where the processor draws, a frame of a large map takes a twelfth of the time. */
const PLAIN_SHAPES = { nodeProgramClasses: { circle: NodePointProgram }, edgeProgramClasses: { line: EdgeLineProgram } };
const MANY_LINKS = 2000;
const LINE_OPACITY = { few: 0.55, many: 0.2 };

/** A map in a container. on: {hover(node or -1), choose(node or -1)}. Nodes go by their place in the model. */
export class Drawing {
  constructor(container, model, on) {
    this.model = model;
    this.on = on;
    this.lit = null;
    this.groups = [];
    this.movedAt = 0;
    this.placedAt = 0;
    this.cost = 0;
    this.style = styleOf();
    this.colours = [];
    this.graph = graphOf(model);
    this.sigma = new Sigma(this.graph, container, {
      allowInvalidContainer: true,
      defaultDrawNodeHover: () => {},
      defaultDrawNodeLabel: (context, data) => this.#label(context, data),
      labelDensity: 0.5,
      labelGridCellSize: 130,
      labelRenderedSizeThreshold: 6,
      labelSize: 12,
      minCameraRatio: 0.01,
      maxCameraRatio: 3,
      stagePadding: 60,
      zIndex: false,
      ...(model.links.length + model.nodes.length > LARGE ? PLAIN_SHAPES : {}),
    });
    for (const layer of UNUSED_LAYERS) this.sigma.getCanvases()[layer].style.display = "none";
    this.sigma.createCanvasContext("lit", { afterLayer: "labels", style: { pointerEvents: "none" } });
    this.sigma.resize(true);
    this.context = this.sigma.getCanvases().lit.getContext("2d");
    this.sigma.on("enterNode", ({ node }) => this.on.hover(Number(node)));
    this.sigma.on("leaveNode", () => this.on.hover(-1));
    this.sigma.on("clickNode", ({ node }) => this.on.choose(Number(node)));
    this.sigma.on("clickStage", () => this.on.choose(-1));
    this.sliding = new Sliding(this.sigma, SLIDING_LAYERS.map((layer) => this.sigma.getCanvases()[layer]));
    this.sigma.on("afterRender", () => {
      this.#overlay();
      if (this.placedAt) this.cost = performance.now() - this.placedAt;
      this.placedAt = 0;
    });
    this.sigma.getCamera().on("updated", () => (this.movedAt = performance.now()));
    this.watcher = new ResizeObserver(() => this.sigma.resize() && this.sigma.scheduleRender());
    this.watcher.observe(container);
  }

  /** Whether groups are named instead of memories. */
  get far() {
    return this.model.nodes.length > FEW_NODES && this.sigma?.getCamera().ratio > NEAR_RATIO;
  }

  /** Whether the reader moves the map, or did so just now. */
  get moving() {
    return performance.now() - this.movedAt < MOVE_REST_MILLISECONDS;
  }

  paint(colours) {
    this.style = styleOf();
    this.colours = colours.of;
    const faint = sheer(this.style.line, this.model.links.length > MANY_LINKS ? LINE_OPACITY.many : LINE_OPACITY.few);
    this.graph.updateEachNodeAttributes((node, data) => ((data.color = colours.of[node]), data), { attributes: ["color"] });
    this.sigma.setSettings({ defaultEdgeColor: faint, labelColor: { color: this.style.ink }, labelFont: this.style.font });
    this.sigma.refresh({ skipIndexation: true });
  }

  /** Show only what passes. */
  show(shown) {
    this.shown = shown;
    this.linked = linkedOf(this.model, shown);
    this.graph.updateEachNodeAttributes((node, data) => ((data.hidden = !shown.nodes[node]), data), { attributes: ["hidden"] });
    this.graph.updateEachEdgeAttributes((edge, data) => ((data.hidden = !shown.links[edge]), data), { attributes: ["hidden"] });
    this.#findGroups();
  }

  /** Move all nodes. `cost` is then how many milliseconds the last such move took. */
  move(at) {
    this.placedAt = performance.now();
    this.graph.updateEachNodeAttributes((node, data) => ((data.x = at[2 * node]), (data.y = at[2 * node + 1]), data), { attributes: ["x", "y"] });
    this.#findGroups();
  }

  /** Light some nodes and dim the rest. null: everything is as bright as it is. */
  light(nodes, focus = -1) {
    this.lit = nodes && { focus, nodes, lines: focus < 0 ? [] : this.#linesOf(focus) };
    const canvases = this.sigma.getCanvases();
    for (const layer of LAYERS) canvases[layer].style.opacity = nodes ? (layer === "labels" ? 0 : 0.18) : 1;
    this.#overlay();
  }

  #linesOf(focus) {
    const { links, near } = this.model;
    return near[focus].filter((at) => this.shown.links[at]).map((at) => [focus, otherEnd(links[at], focus)]);
  }

  #findGroups() {
    const sums = new Map();
    this.model.nodes.forEach(({ cluster }, node) => {
      if (!this.linked?.[node]) return;
      const { x, y } = this.graph.getNodeAttributes(node);
      const sum = sums.get(cluster) ?? { x: 0, y: 0, size: 0 };
      sums.set(cluster, { x: sum.x + x, y: sum.y + y, size: sum.size + 1 });
    });
    const labels = new Map(this.model.clusters.map(({ id, label }) => [id, label]));
    this.groups = [...sums]
      .map(([cluster, { x, y, size }]) => ({ label: labels.get(cluster) ?? "", x: x / size, y: y / size, size }))
      .filter((group) => group.size > 2 && group.label)
      .sort((one, other) => other.size - one.size);
  }

  #overlay() {
    if (this.sliding?.moved) return;
    const { width, height } = this.sigma.getDimensions();
    drawOverlay(this.context, {
      width, height, style: this.style, lit: this.lit,
      groups: this.lit || !this.far ? [] : this.groups.map((group) => ({ ...group, ...this.sigma.graphToViewport(group) })),
      place: (node) => this.#place(node),
      labelOf: (node) => oneLine(this.model.nodes[node].label, LABEL_LENGTH),
      colourOf: (node) => this.colours[node],
    });
  }

  #place(node) {
    if (!this.shown?.nodes[node]) return null;
    const data = this.sigma.getNodeDisplayData(String(node));
    return { ...this.sigma.framedGraphToViewport(data), size: this.sigma.scaleSize(data.size) };
  }

  #label(context, { x, y, size, label }) {
    if (!label || this.far) return;
    context.font = `500 12px ${this.style.font}`;
    context.lineJoin = "round";
    context.lineWidth = 3;
    context.strokeStyle = this.style.paper;
    context.strokeText(label, x + size + 4, y + 4);
    context.fillStyle = this.style.ink;
    context.fillText(label, x + size + 4, y + 4);
  }

  /** Move the camera so that these nodes fill the map; without any, so that everything is in sight. */
  fit(nodes = null, { closest = 0.12, animated = true } = {}) {
    const goal = nodes?.length ? this.#around(nodes, closest) : { x: 0.5, y: 0.5, ratio: 1, angle: 0 };
    if (animated && !matchMedia("(prefers-reduced-motion: reduce)").matches) this.sigma.getCamera().animate(goal, { duration: 350 });
    else this.sigma.getCamera().setState(goal);
  }

  #around(nodes, closest) {
    const places = nodes.map((node) => this.sigma.getNodeDisplayData(String(node)));
    const [xs, ys] = [places.map(({ x }) => x), places.map(({ y }) => y)];
    const [left, right, low, high] = [min(xs), max(xs), min(ys), max(ys)];
    return { x: (left + right) / 2, y: (low + high) / 2, ratio: Math.min(1, Math.max(closest, 1.25 * Math.max(right - left, high - low))) };
  }

  /** Whether a node is within the middle of the map. */
  inSight(node) {
    const { width, height } = this.sigma.getDimensions();
    const { x, y } = this.#place(node) ?? {};
    return x > width * 0.08 && x < width * 0.92 && y > height * 0.08 && y < height * 0.92;
  }

  zoom(factor) {
    const camera = this.sigma.getCamera();
    const ratio = camera.getBoundedRatio(camera.ratio / factor);
    camera.animate({ ratio }, { duration: 160 });
  }

  pan(x, y) {
    const camera = this.sigma.getCamera();
    camera.animate({ x: camera.x + x * camera.ratio, y: camera.y + y * camera.ratio }, { duration: 120 });
  }

  kill() {
    this.sliding.kill();
    this.watcher.disconnect();
    this.sigma.kill();
  }
}

const min = (values) => values.reduce((one, other) => Math.min(one, other));
const max = (values) => values.reduce((one, other) => Math.max(one, other));

function styleOf() {
  return {
    font: getComputedStyle(document.body).fontFamily,
    paper: colour("--paper"), ink: colour("--ink"), accent: colour("--accent"), line: colour("--ink-faint"),
  };
}

/** A colour with this opacity, as sigma blends it: each part already multiplied. */
function sheer(rgb, alpha) {
  const parts = rgb.match(/[\d.]+/g).slice(0, 3).map((part) => Math.round(part * alpha));
  return `rgba(${parts.join(", ")}, ${alpha})`;
}

function graphOf(model) {
  const graph = new Graph({ multi: true, type: "directed" });
  const base = model.nodes.length > 3000 ? 1.7 : model.nodes.length > 400 ? 2.8 : 4.5;
  model.nodes.forEach(({ label, relevance }, node) =>
    graph.addNode(node, { x: 0, y: 0, size: base * (0.8 + 2 * relevance), label: oneLine(label, LABEL_LENGTH) }),
  );
  model.links.forEach(({ source, target, weight }, link) =>
    graph.addEdgeWithKey(link, source, target, { size: 0.5 + 0.7 * (weight ?? 0) }),
  );
  return graph;
}
