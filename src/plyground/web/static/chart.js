// Line charts as SVG.

import { h, s } from "./dom.js";

const WIDTH = 520;
const HEIGHT = 230;
const LEFT = 46;
const RIGHT = 12;
const TOP = 12;
const BOTTOM = 34;

/**
 * @typedef {{x: number, y: number, low?: number, high?: number}} Point
 * @typedef {{name: string, points: Point[]}} Series
 * @typedef {{x: number, y: number, kind: string, title: string}} Sign
 */

/**
 * A chart with a line for each series, and a band where points have intervals.
 * @param {{title: string, series: Series[], x: string, from?: number, range?: [number, number], percent?: boolean,
 *   signs?: Sign[], at?: number, onpick?: (x: number) => void}} options `from`: the least x; `at`: a vertical line;
 *   `onpick`: called with the x of a click
 * @returns {HTMLElement}
 */
export function chart({ title, series, x, from, range, percent = false, signs = [], at, onpick }) {
  const points = series.flatMap((each) => each.points);
  const xs = bounds(
    points.map((point) => point.x),
    at ?? from,
  );
  const ys = range ?? bounds(points.flatMap((point) => [point.low ?? point.y, point.high ?? point.y]));
  const scale = {
    x: (value) => LEFT + ((value - xs[0]) / (xs[1] - xs[0] || 1)) * (WIDTH - LEFT - RIGHT),
    y: (value) => HEIGHT - BOTTOM - ((value - ys[0]) / (ys[1] - ys[0] || 1)) * (HEIGHT - TOP - BOTTOM),
  };
  const write = (value) => (percent ? `${Math.round(100 * value)}%` : short(value));
  const svg = s(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": summary(title, series, write), class: "chart" },
    ...axes(xs, ys, scale, write, x),
    ...series.flatMap((each, index) => line(each, index, scale)),
    ...(at === undefined
      ? []
      : [s("line", { class: "at", x1: scale.x(at), x2: scale.x(at), y1: TOP, y2: HEIGHT - BOTTOM })]),
    ...signs.map((sign) => mark(sign, scale)),
  );
  if (onpick) {
    svg.classList.add("pickable");
    svg.addEventListener("click", (event) => {
      const box = svg.getBoundingClientRect();
      const place = ((event.clientX - box.x) / box.width) * WIDTH;
      onpick(xs[0] + ((place - LEFT) / (WIDTH - LEFT - RIGHT)) * (xs[1] - xs[0]));
    });
  }
  const names = series.length > 1 || series[0]?.name !== title;
  return h("figure", { class: "figure" }, h("figcaption", {}, title), svg, names && legend(series));
}

function bounds(values, more) {
  const all = more === undefined ? values : [...values, more];
  if (!all.length) return [0, 1];
  const [low, high] = [Math.min(...all), Math.max(...all)];
  return low === high ? [low - 0.5, high + 0.5] : [low, high];
}

/** `1,200,000` → `1.2M`. */
function short(value) {
  const size = Math.abs(value);
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  if (size >= 1e4) return `${Number((value / 1e3).toPrecision(3))}k`;
  return String(Number(value.toPrecision(3)));
}

function summary(title, series, write) {
  const ends = series
    .filter((each) => each.points.length)
    .map((each) => `${each.name} ${write(each.points[each.points.length - 1].y)}`);
  return `${title}: ${ends.join(", ") || "nothing yet"}`;
}

function axes(xs, ys, scale, write, name) {
  const parts = [];
  for (const y of ticks(ys)) {
    parts.push(s("line", { class: "rule", x1: LEFT, x2: WIDTH - RIGHT, y1: scale.y(y), y2: scale.y(y) }));
    parts.push(s("text", { x: LEFT - 6, y: scale.y(y) + 4, "text-anchor": "end" }, write(y)));
  }
  for (const x of ticks(xs)) {
    parts.push(s("text", { x: scale.x(x), y: HEIGHT - BOTTOM + 15, "text-anchor": "middle" }, short(x)));
  }
  parts.push(s("text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 4, "text-anchor": "middle" }, name));
  return parts;
}

/** Round numbers between two bounds: multiples of 1, 2 or 5 times a power of ten, at most about six. */
function ticks([low, high]) {
  const rough = (high - low) / 5 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k += 1) found.push(k * step);
  return found;
}

function line({ points }, index, scale) {
  if (!points.length) return [];
  const at = (x, y) => `${scale.x(x).toFixed(1)},${scale.y(y).toFixed(1)}`;
  const parts = [];
  const spread = points.filter((point) => point.low !== undefined);
  if (spread.length) {
    const around = [...spread.map((p) => at(p.x, p.high)), ...[...spread].reverse().map((p) => at(p.x, p.low))];
    parts.push(s("polygon", { class: `band c${index % 8}`, points: around.join(" ") }));
  }
  parts.push(s("polyline", { class: `curve c${index % 8}`, points: points.map((p) => at(p.x, p.y)).join(" ") }));
  if (points.length < 40) {
    for (const p of points)
      parts.push(s("circle", { class: `dot c${index % 8}`, cx: scale.x(p.x), cy: scale.y(p.y), r: 2.6 }));
  }
  return parts;
}

function mark({ x, y, kind, title }, scale) {
  return s("circle", { class: `sign ${kind}`, cx: scale.x(x), cy: scale.y(y), r: 6 }, s("title", {}, title));
}

function legend(series) {
  const entries = series.map((each, index) =>
    h(
      "li",
      {},
      s(
        "svg",
        { viewBox: "0 0 24 8", width: 24, height: 8, "aria-hidden": "true" },
        s("line", { class: `curve c${index % 8}`, x1: 0, x2: 24, y1: 4, y2: 4 }),
      ),
      ` ${each.name}`,
    ),
  );
  return h("ul", { class: "legend" }, ...entries);
}
