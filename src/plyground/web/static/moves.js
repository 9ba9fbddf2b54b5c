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
  let turn = -1;
  let cell = null;
  moves.forEach((move, index) => {
    if (move.turn !== turn) {
      turn = move.turn;
      cell = h("span", { class: "turn" });
      if (move.side === 0 || rows.length === 0) rows.push([null, null]);
      if (rows[rows.length - 1][move.side]) rows.push([null, null]); // a side that has two turns in a row
      rows[rows.length - 1][move.side] = cell;
    }
    cell.append(moveButton(move, index + 1, current, onpick, mistakes.get(index + 1)));
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
