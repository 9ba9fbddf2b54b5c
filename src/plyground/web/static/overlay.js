// Arrows and heat over the board: what an analysis or a hint says of moves.

import { h, s } from "./dom.js";

/**
 * A move on the board: an arrow along its first two cells, or a badge with its share or a text on the only one.
 * @typedef {{clicks: string[], share: number, text?: string,
 *   kind: "move" | "hint" | "threat" | "good" | "draw" | "bad"}} Mark
 */

/**
 * @param {{grid: HTMLElement, cells: HTMLElement[], zone: import("./board.js").Zone}} entry the zone of the board
 * @param {Mark[]} marks
 */
export function drawOverlay(entry, marks) {
  const { grid, zone } = entry;
  grid.querySelector(".arrows")?.remove();
  for (const badge of grid.querySelectorAll(".badge")) badge.remove();
  const arrows = [];
  for (const { mark, places } of together(zone, marks)) {
    if (places.length === 2) arrows.push(arrow(center(zone, places[0]), center(zone, places[1]), mark));
    else entry.cells[places[0]].append(badge(mark));
  }
  if (arrows.length) {
    const box = `0 0 ${zone.columns} ${zone.rows}`;
    grid.append(s("svg", { class: "arrows", viewBox: box, "aria-hidden": "true" }, ...arrows));
  }
}

/** Moves over the same cells (they differ in a card that is taken) as one, with the sum of their shares. */
function together(zone, marks) {
  const found = new Map();
  for (const mark of marks) {
    const all = mark.clicks.map((word) => zone.cells.findIndex((cell) => cell.click === word));
    const places = all.filter((place) => place >= 0).slice(0, 2);
    const key = `${mark.kind} ${places}`;
    const share = mark.share + (found.get(key)?.mark.share ?? 0);
    if (places.length) found.set(key, { mark: { ...mark, share: Math.min(1, share) }, places });
  }
  return found.values();
}

const center = (zone, place) => [(place % zone.columns) + 0.5, Math.floor(place / zone.columns) + 0.5];

function arrow([x, y], [toX, toY], mark) {
  const length = Math.hypot(toX - x, toY - y);
  const [right, down] = [(toX - x) / length, (toY - y) / length];
  const width = 0.05 + 0.13 * Math.sqrt(mark.share);
  const at = (along, aside) => `${x + right * along - down * aside},${y + down * along + right * aside}`;
  const [tip, neck, wing] = [length - 0.12, length - 0.12 - 2.4 * width, 1.5 * width];
  const points = [
    at(0.25, width / 2),
    at(neck, width / 2),
    at(neck, wing),
    at(tip, 0),
    at(neck, -wing),
    at(neck, -width / 2),
    at(0.25, -width / 2),
  ];
  const shape = s("polygon", { points: points.join(" "), class: `arrow ${mark.kind}` });
  shape.style.opacity = String(0.35 + 0.5 * mark.share);
  return shape;
}

function badge(mark) {
  const text = mark.text ?? `${Math.round(100 * mark.share)}%`; // written by the style sheet: the table says it in words
  const node = h("span", { class: `badge ${mark.kind}`, "aria-hidden": "true", "data-text": text });
  node.style.setProperty("--share", String(Math.max(0.08, mark.share)));
  return node;
}
