// The names of the players above and below the board, with their clocks.

import { h } from "./dom.js";
import { sideInWords } from "./drawings.js";

export class Players {
  constructor() {
    this.top = h("div", { class: "player" });
    this.bottom = h("div", { class: "player" });
    this.timer = setInterval(() => this.#tick(), 200);
    this.received = 0;
    this.table = null;
    this.clocks = [];
  }

  /** No table is shown any more. */
  stop() {
    clearInterval(this.timer);
  }

  /** @param {any} table @param {boolean} flipped */
  show(table, flipped) {
    this.table = table;
    this.received = performance.now();
    const seen = table.players[table.view]?.side ?? 0;
    const below = flipped ? 1 - seen : seen;
    this.clocks = [null, null];
    this.#fill(this.bottom, below);
    this.#fill(this.top, 1 - below);
    this.#tick();
  }

  #fill(element, side) {
    const { players, sides, to_move: toMove, clocks } = this.table;
    const names = players.filter((player) => player.side === side).map((player) => player.name);
    if (clocks.length) this.clocks[side] = h("span", { class: "clock", role: "timer" });
    element.classList.toggle("acts", toMove === side);
    element.replaceChildren(
      h("span", { class: `sign side${side} ${sideInWords(sides[side])}`, "aria-hidden": "true" }),
      h("span", { class: "names" }, `${names.join(" and ")}`),
      h("span", { class: "soft" }, ` ${sideInWords(sides[side])}${toMove === side ? ", to move" : ""}`),
      ...(this.clocks[side] ? [this.clocks[side]] : []),
    );
  }

  #tick() {
    if (!this.table?.clocks.length) return;
    const passed = (performance.now() - this.received) / 1000;
    this.table.clocks.forEach((left, side) => {
      const runs = this.table.clock_runs && this.table.to_move === side;
      const seconds = Math.max(0, left - (runs ? passed : 0));
      this.clocks[side].textContent = inMinutes(seconds);
      this.clocks[side].classList.toggle("short", seconds < 20);
    });
  }
}

/** 75.4 → `1:15`; below 20 seconds with tenths. @param {number} seconds */
export function inMinutes(seconds) {
  if (seconds < 20) return seconds.toFixed(1);
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
