// A whole game after it was played: the value over the plies, the mistakes by size, accuracy, and another try.

import { chart } from "./chart.js";
import { button, h, redraw } from "./dom.js";
import { sideInWords } from "./drawings.js";
import { rowNumbers } from "./moves.js";
import { SCALE, playable, searched } from "./understand.js";

const LOST = `${SCALE}; lost: by how much a move lowers the value of its side.`;

export class Review {
  /** @param {import("./table.js").TableView} view */
  constructor(view) {
    this.view = view;
    this.found = null; // the newest `reviewed`
    this.request = 0;
    this.revision = -1;
    this.mistakes = new Map(); // ply → name
    this.body = h("div");
    this.element = h("section", { class: "panel", "aria-label": "Review" }, h("h2", {}, "Review"), this.body);
  }

  /** The table has changed: a review of the former moves no longer holds. */
  tableChanged() {
    const { table } = this.view;
    const line = table.moves.map((move) => move.name).join(" ");
    if (line !== this.line) {
      this.found = null;
      this.request = 0;
      this.mistakes = new Map();
    }
    this.line = line;
    this.draw();
  }

  /** Another ply is shown. */
  positionChanged() {
    this.draw();
  }

  /** @param {any} message */
  receive(message) {
    if (message.request !== this.request) return;
    this.found = message;
    searched.add(this.view.table.game);
    const named = message.plies.filter((each) => each.mistake);
    this.mistakes = new Map(named.map((each) => [each.ply, each.mistake]));
    this.draw();
    if (this.view.shown) this.view.drawMoves();
  }

  #start() {
    this.failure = "";
    this.request = this.view.connection.send("review", { table: this.view.id }, (refusal) => {
      this.failure = refusal.message;
      this.request = 0;
      this.draw();
    });
    this.draw();
  }

  /** Draw what is known. */
  draw() {
    const { view, found } = this;
    if (!view.table) return;
    if (view.game.hidden) {
      const why = "Games with hidden cards have no review: a move cannot be blamed for its luck.";
      this.body.replaceChildren(h("p", { class: "soft" }, why));
      return;
    }
    if (!found) {
      const waits = this.request > 0;
      const line = this.failure || (waits ? "Analysing the game …" : "Find the mistakes of this game.");
      this.body.replaceChildren(
        h("p", { class: "soft" }, line),
        button("Review the game", () => this.#start(), { disabled: view.table.moves.length === 0 || waits }),
      );
      return;
    }
    const progress = found.done ? "" : ` so far (${found.plies.length} of ${found.length} plies)`;
    const accuracy = view.table.sides.map(
      (side, index) => `${sideInWords(side)} ${found.accuracy[index]?.toFixed(0) ?? "–"}%`,
    );
    redraw(
      this.body,
      this.#chart(),
      h("p", {}, `Accuracy${progress}: ${accuracy.join(", ")}`),
      ...this.#steps(),
      this.#list(),
      this.mistakes.size > 0 && h("p", { class: "soft" }, LOST),
    );
  }

  #chart() {
    const { found, view } = this;
    const points = found.plies.map((each) => ({ x: each.ply, y: each.value }));
    const signs = found.plies
      .filter((each) => each.mistake)
      .map((each) => ({ x: each.ply, y: each.value, kind: each.mistake, title: `${each.played}: ${each.mistake}` }));
    const name = `Value for ${sideInWords(view.table.sides[0])}`;
    return chart({
      title: name,
      series: [{ name, points }],
      x: "ply",
      range: [-1, 1],
      signs,
      at: view.shown?.ply,
      onpick: (x) => view.go(Math.max(0, Math.min(view.table.moves.length, Math.round(x)))),
    });
  }

  /** Go to the mistake before or after the ply that is shown. */
  #steps() {
    const plies = [...this.mistakes.keys()].sort((a, b) => a - b);
    if (!plies.length) return [h("p", {}, this.found.done ? "No mistakes." : "")];
    const here = this.view.shown.ply;
    const before = plies.filter((ply) => ply < here).pop();
    const after = plies.find((ply) => ply > here);
    const step = (name, text, ply) =>
      button(text, () => this.view.go(ply), { disabled: ply === undefined, "data-key": name });
    return [h("div", { class: "row" }, step("before", "Mistake before", before), step("after", "Next mistake", after))];
  }

  #list() {
    const byPly = new Map(this.found.plies.map((each) => [each.ply, each]));
    const items = this.found.worst.filter((ply) => byPly.has(ply)).map((ply) => this.#item(byPly.get(ply)));
    return h("ol", { class: "list mistakes", "aria-label": "Mistakes, the largest first" }, ...items);
  }

  #item(each) {
    const { view } = this;
    const side = sideInWords(each.side);
    const row = rowNumbers(view.table.moves)[each.ply - 1];
    return h(
      "li",
      {},
      button(`${row}. ${side} ${each.played}`, () => view.go(each.ply), { class: "link" }),
      h("span", { class: `mistake ${each.mistake}` }, ` ${each.mistake}, lost ${each.lost.toFixed(2)}`),
      h("div", { class: "line" }, "better: ", ...playable(view, each.ply - 1, [], each.line, each.actions)),
      each.words ? h("div", { class: "soft" }, each.words) : "",
      button("Try again from here", () => view.fork(each.ply - 1), { class: "small" }),
    );
  }
}
