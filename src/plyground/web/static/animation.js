// How pieces move and discs fall from one scene to the next; nothing moves for people who want no motion.

import { calm } from "./dom.js";
import { isDropped } from "./board.js";

const SLIDE = 180; // milliseconds

/**
 * Animate what has appeared since the last scene.
 * @param {import("./board.js").Board} board
 * @param {Map<string, {items: import("./drawings.js").Item[], rect: DOMRect}>} before where the items were
 */
export function animate(board, before) {
  if (calm()) return;
  const { gone, came } = changes(board, before);
  if (came.length > 6) return; // another position, not a move
  for (const { item, node, zone, place, rect } of came) {
    if (isDropped(zone)) {
      fall(node, Math.floor(place / zone.columns) + 1);
      continue;
    }
    const from = gone.findIndex((each) => each.item.kind === item.kind && each.item.side === item.side);
    if (from >= 0) slide(node, gone.splice(from, 1)[0].rect, rect);
    else if (item.kind === "chip" || item.kind === "disc") node.animate({ scale: ["0.3", "1"] }, SLIDE);
  }
}

function changes(board, before) {
  const gone = [];
  const came = [];
  for (const { cells, zone } of board.zones.values()) {
    zone.cells.forEach((cell, place) => {
      const old = before.get(cell.name) ?? { items: [], rect: null };
      const same = (item) => (other) => other.kind === item.kind && other.side === item.side;
      for (const item of old.items) if (!cell.items.some(same(item))) gone.push({ item, rect: old.rect });
      cell.items.forEach((item, index) => {
        if (old.items.some(same(item))) return;
        const node = cells[place].children[index];
        came.push({ item, node, zone, place, rect: cells[place].getBoundingClientRect() });
      });
    });
  }
  for (const [name, old] of before) {
    if (!board.cells().some((cell) => cell.dataset.cell === name)) {
      for (const item of old.items) gone.push({ item, rect: old.rect });
    }
  }
  return { gone, came };
}

function slide(node, from, to) {
  const start = `${from.x - to.x}px ${from.y - to.y}px`;
  node.animate({ translate: [start, "0px 0px"], zIndex: [5, 5] }, { duration: SLIDE, easing: "ease-out" });
}

/** A disc falls from above the board and bounces a little. */
function fall(node, rows) {
  const high = `0% ${-100 * rows}%`;
  node.animate(
    [
      { translate: high, easing: "ease-in" },
      { translate: "0% 0%", offset: 0.72, easing: "ease-out" },
      { translate: "0% -9%", offset: 0.86, easing: "ease-in" },
      { translate: "0% 0%" },
    ],
    140 + 70 * rows,
  );
}
