// Labels for screen readers, made from the names of zones, cells and items.

import { itemInWords } from "./drawings.js";

/**
 * `white knight on f3`, `e4, empty, legal`, `queen of hearts in your hand`.
 * @param {import("./board.js").Cell} cell
 * @param {import("./board.js").Zone} zone
 * @param {string[]} sides
 * @param {{selected?: boolean, target?: boolean, movable?: boolean, last?: boolean}} [state]
 * @returns {string}
 */
export function cellLabel(cell, zone, sides, state = {}) {
  const more = [...cell.marks];
  if (state.last) more.push("last move");
  if (state.selected) more.push("selected");
  if (state.target) more.push("legal");
  return [place(cell, zone, sides), ...more].join(", ");
}

function place(cell, zone, sides) {
  const words = cell.items.map((item) => itemInWords(item, sides)).join(" and ");
  const column = cell.click.startsWith("column:") ? `, ${cell.click.replace(":", " ")}` : "";
  if (zone.name === "board") return (words ? `${words} on ${cell.name}` : `${cell.name}, empty`) + column;
  if (cell.name.startsWith("promote:")) return `promote to ${cell.name.slice("promote:".length)}`;
  if (zone.name === "hand") return `${words} in ${zoneLabel(zone).replace("in ", "")}`;
  return words;
}

/** `face up`, `your hand`, `seat 2`. @param {import("./board.js").Zone} zone */
export function zoneLabel(zone) {
  const seat = /^seat (\d+)$/.exec(zone.name);
  if (seat) return `seat ${Number(seat[1]) + 1}`; // people count from 1
  const held = zone.cells[0]?.items[0]?.kind.startsWith("card:") ? "your hand" : "in the hand";
  return { hand: held, promotion: "promote to", choices: "choices", actions: "moves" }[zone.name] ?? zone.name;
}
