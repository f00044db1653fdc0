// canvas: the drawing as a part of the page: it is arranged, lit, moved by keys, and painted in the colours of the page.
import { html } from "htm/preact";
import { useEffect, useImperativeHandle, useRef, useState } from "preact/hooks";
import { Button } from "../../parts/button.js";
import { arrange } from "./arrange.js";
import { Drawing } from "./drawing.js";
import { neighbours } from "./model.js";
import { allPlaced, keepPlaces, startOf } from "./place.js";

const STEP = 0.12;
const ZOOM = 1.5;
/** Moving all dots may take one part of the time, in so many. */
const REST_OF_COST = 6;
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** The map. hits: list of lit nodes or null. chosen: node or -1. handle: ref with `fit(nodes)`. */
export function Canvas({ model, shown, colours, dark, hits, chosen, onChoose, onFail, handle }) {
  const box = useRef(null);
  const drawing = useRef(null);
  const stop = useRef(() => {});
  const [hovered, setHovered] = useState(-1);
  const [arranging, setArranging] = useState(false);
  const camera = useRef(null);
  const choose = useRef(onChoose);
  choose.current = onChoose;

  const begin = (again) => {
    stop.current();
    const at = startOf(model, shown);
    drawing.current.move(at);
    if (!again && allPlaced(model, shown)) return;
    let last = 0;
    setArranging(true);
    stop.current = arrange(model, shown, at, {
      onMove(positions) {
        const { moving, cost } = drawing.current;
        if (still() || moving || performance.now() - last < REST_OF_COST * cost) return;
        last = performance.now();
        drawing.current.move(positions);
      },
      onEnd(positions) {
        keepPlaces(model, shown, positions);
        setArranging(false);
        if (!drawing.current) return;
        drawing.current.move(positions);
      },
    });
  };

  useEffect(() => {
    try {
      drawing.current = new Drawing(box.current, model, { hover: setHovered, choose: (node) => choose.current(node) });
    } catch (problem) {
      console.warn("The map cannot be drawn:", problem);
      onFail();
      return undefined;
    }
    drawing.current.paint(colours);
    drawing.current.show(shown);
    begin(false);
    if (camera.current) drawing.current.sigma.getCamera().setState(camera.current);
    return () => {
      camera.current = drawing.current.sigma.getCamera().getState();
      const old = drawing.current;
      drawing.current = null;
      stop.current();
      old.kill();
    };
  }, [model]);

  useEffect(() => drawing.current?.paint(colours), [colours, dark]);
  const mode = useRef(shown.mode);
  useEffect(() => {
    if (!drawing.current) return;
    drawing.current.show(shown);
    if (mode.current === shown.mode) return;
    mode.current = shown.mode;
    begin(false);
    drawing.current.fit();
  }, [shown]);

  const focus = hovered >= 0 && shown.nodes[hovered] ? hovered : chosen;
  useEffect(() => {
    if (!drawing.current) return;
    box.current.style.cursor = hovered >= 0 ? "pointer" : "";
    if (focus >= 0 && shown.nodes[focus]) drawing.current.light([focus, ...neighbours(model, shown, focus)], focus);
    else drawing.current.light(hits);
  }, [model, shown, focus, hits, hovered, colours, dark]);
  useEffect(() => {
    if (chosen >= 0 && drawing.current && shown.nodes[chosen] && !drawing.current.inSight(chosen)) drawing.current.fit([chosen, ...neighbours(model, shown, chosen)]);
  }, [chosen]);

  useImperativeHandle(handle, () => ({ fit: (nodes) => drawing.current?.fit(nodes), drawing: () => drawing.current }), []);
  const keys = {
    ArrowLeft: () => drawing.current.pan(-STEP, 0), ArrowRight: () => drawing.current.pan(STEP, 0),
    ArrowUp: () => drawing.current.pan(0, STEP), ArrowDown: () => drawing.current.pan(0, -STEP),
    "+": () => drawing.current.zoom(ZOOM), "=": () => drawing.current.zoom(ZOOM), "-": () => drawing.current.zoom(1 / ZOOM), 0: () => drawing.current.fit(),
  };
  const onKeyDown = (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey || event.target !== event.currentTarget) return;
    event.preventDefault();
    keys[event.key]();
  };
  return html`<div class="map-canvas">
    <div
      class="map-drawing" ref=${box} tabindex="0" role="application" onKeyDown=${onKeyDown} data-state=${arranging ? "arranging" : "still"}
      aria-label="Map. Arrows move it, plus and minus zoom, 0 shows everything. The list has the same memories."
    ></div>
    <div class="map-zoom">
      <${Button} small icon="plus" label="Closer" onClick=${() => drawing.current.zoom(ZOOM)} />
      <${Button} small icon="minus" label="Further away" onClick=${() => drawing.current.zoom(1 / ZOOM)} />
      <${Button} small icon="fit" label="Show everything" onClick=${() => drawing.current.fit()} />
      ${arranging
        ? html`<${Button} small icon="stop" label="Stop arranging" onClick=${() => stop.current()} />`
        : html`<${Button} small icon="refresh" label="Arrange again" onClick=${() => begin(true)} />`}
    </div>
    ${arranging && html`<p class="map-note" role="status">Arranging…</p>`}
  </div>`;
}
