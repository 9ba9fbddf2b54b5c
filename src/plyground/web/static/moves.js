// The list of moves: each can be looked at; the turns of both sides stand beside each other.

import { h } from "./dom.js";

/**
 * @param {{name: string, side: number, turn: number}[]} moves
 * @param {number} current the ply that is shown
 * @param {(ply: number) => void} onpick
 * @param {Map<number, string>} [mistakes] ply → inaccuracy, mistake or blunder
 * @returns {HTMLElement}
 */
export function moveList(moves, current, onpick, mistakes = new Map()) {
  const rows = [];
  const numbers = rowNumbers(moves);
  moves.forEach((move, index) => {
    if (numbers[index] > rows.length) rows.push([null, null]);
    const row = rows[rows.length - 1];
    row[move.side] ??= h("span", { class: "turn" });
    row[move.side].append(moveButton(move, index + 1, current, onpick, mistakes.get(index + 1)));
  });
  const items = rows.map(([first, second]) => h("li", {}, first ?? h("span", { class: "turn" }, "…"), second));
  const list = h("ol", { class: "moves", "aria-label": "Moves" }, ...items);
  list.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -current, End: moves.length - current }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    onpick(Math.max(0, Math.min(moves.length, current + step)));
  });
  return list;
}

/** The number of the row in which each move stands. @param {{side: number, turn: number}[]} moves */
export function rowNumbers(moves) {
  let row = 0;
  return moves.map((move, index) => {
    const before = moves[index - 1];
    const begins = !before || (move.turn !== before.turn && (move.side === 0 || move.side === before.side));
    row += begins ? 1 : 0;
    return row;
  });
}

const SIGNS = { inaccuracy: "?!", mistake: "?", blunder: "??" };

function moveButton(move, ply, current, onpick, mistake) {
  const sign = mistake ? h("span", { class: `mistake ${mistake}`, title: mistake }, SIGNS[mistake]) : "";
  return h(
    "button",
    {
      type: "button",
      class: "move",
      "data-ply": ply,
      "aria-current": ply === current ? "true" : null,
      onclick: () => onpick(ply),
    },
    move.name,
    sign,
  );
}
