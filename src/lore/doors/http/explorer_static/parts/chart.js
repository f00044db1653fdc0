// chart: curves and columns with uPlot, in the colours of the page.
import { html } from "htm/preact";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { useSignal } from "../signal.js";
import { colour, theme } from "../theme.js";

/** A chart. data: [xs, ys, ...] as uPlot wants it. series: list of {label, tone, fill, dash, bars, value}.
 * label: what it shows, for screen readers. marks: list of {at, text} drawn as vertical lines.
 * axes: {x: false | formatter of a value, y: false | formatter}. range: [low, high] of y. */
export function Chart({ data, series, label, height = 180, time = true, marks = [], axes = {}, range, legend = false }) {
  const box = useRef(null);
  const plot = useRef(null);
  const chosen = useSignal(theme);
  useEffect(() => {
    const draw = () => {
      plot.current?.destroy();
      const size = { width: Math.max(120, box.current.clientWidth), height };
      plot.current = new uPlot({ ...size, ...options({ series, time, marks, axes, range, legend }) }, data, box.current);
    };
    draw();
    const watcher = new ResizeObserver(([{ contentRect }]) => plot.current?.setSize({ width: Math.max(120, contentRect.width), height }));
    const dark = matchMedia("(prefers-color-scheme: dark)");
    watcher.observe(box.current);
    dark.addEventListener("change", draw);
    return () => (watcher.disconnect(), dark.removeEventListener("change", draw), plot.current?.destroy());
  }, [data, chosen, height]);
  return html`<div class="chart" role="img" aria-label=${label} ref=${box}></div>`;
}

function options({ series, time, marks, axes, range, legend }) {
  const faint = colour("--ink-faint");
  const line = colour("--line");
  const axis = (format, more) => ({
    show: format !== false,
    stroke: faint,
    font: `11px ${fontOf()}`,
    grid: { stroke: line, width: 1 },
    ticks: { show: false },
    ...(format === dates ? { values: (_, values) => dates(values), space: 60 } : {}),
    ...(typeof format === "function" && format !== dates ? { values: (_, values) => values.map(format) } : {}),
    ...more,
  });
  return {
    legend: { show: legend, live: true },
    cursor: { y: false, points: { size: 7 }, drag: { setScale: false, x: false, y: false } },
    padding: [8, 14, 0, 0],
    scales: { x: { time }, y: range ? { range } : {} },
    axes: [axis(axes.x ?? (time ? dates : undefined), { grid: { show: false }, size: 26, gap: 4 }), axis(axes.y, { size: 40, gap: 4 })],
    series: [{ label: time ? "When" : "" }, ...series.map(drawn)],
    hooks: { draw: [(chart) => marks.forEach((mark) => drawMark(chart, mark, faint))] },
  };
}

const months = new Intl.DateTimeFormat("en", { month: "short" });
const days = new Intl.DateTimeFormat("en", { day: "numeric", month: "short" });
const hours = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const DAY = 86_400;

/** Moments on an axis, as precise as their distance wants it. */
function dates(values) {
  const step = values.length > 1 ? values[1] - values[0] : DAY;
  const format = step >= 27 * DAY ? months : step >= DAY ? days : hours;
  return values.map((at) => (at == null ? "" : format.format(at * 1000)));
}

function fontOf() {
  return getComputedStyle(document.body).fontFamily;
}

function drawn({ label, tone = "--accent", fill = false, dash, bars = false, value }) {
  const stroke = colour(tone);
  return {
    label,
    stroke,
    dash,
    width: bars ? 0 : 2,
    fill: bars ? stroke : fill ? faded(stroke) : undefined,
    paths: bars ? uPlot.paths.bars({ size: [0.7, 40], radius: 0.2 }) : undefined,
    points: { show: false },
    value: value ? (_, one) => (one == null ? "" : value(one)) : undefined,
  };
}

function faded(stroke) {
  return stroke.replace(/^rgb\((.*)\)$/, "rgba($1, 0.14)");
}

function drawMark(chart, { at, text }, stroke) {
  const x = Math.round(chart.valToPos(at, "x", true));
  const { top, height, left, width } = chart.bbox;
  if (x < left || x > left + width) return;
  const { ctx } = chart;
  const ratio = devicePixelRatio || 1;
  ctx.save();
  ctx.strokeStyle = stroke;
  ctx.setLineDash([3 * ratio, 3 * ratio]);
  ctx.beginPath();
  ctx.moveTo(x, top);
  ctx.lineTo(x, top + height);
  ctx.stroke();
  ctx.fillStyle = stroke;
  ctx.font = `${11 * ratio}px ${fontOf()}`;
  ctx.textAlign = x > left + width / 2 ? "right" : "left";
  ctx.fillText(text, x + (ctx.textAlign === "right" ? -5 : 5) * ratio, top + 11 * ratio);
  ctx.restore();
}
