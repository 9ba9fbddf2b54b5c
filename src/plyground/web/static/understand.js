// What a search says of the position: value bar, arrows, table of moves with playable lines. All off until wanted.

import { button, h, redraw } from "./dom.js";
import { sideInWords } from "./drawings.js";
import { select } from "./forms.js";
import { remember, remembered } from "./preferences.js";

const MOST_ARROWS = 6;
const LEAST_SHARE = 0.02;
const TEMPERATURE = 0.05; // of the shares of moves that have values alone
const FIRST = " The first search of a game compiles it, which takes some seconds.";
const SHOWN_PLIES = 8; // of a principal variation
const SHOWN_MOVES = 8;

export const SCALE = "Values are from −1 (a loss) to +1 (a win)";
export const searched = new Set(); // games of which this page has seen a search

export class Understand {
  /** @param {import("./table.js").TableView} view */
  constructor(view) {
    this.view = view;
    this.wishes = {
      bar: false,
      board: "off",
      table: false,
      threats: false,
      network: false,
      ...remembered("understand", {}),
    };
    this.found = null; // the newest `analysed`
    this.request = 0;
    this.fill = h("div", { class: "bar-fill" });
    this.bar = h(
      "div",
      { class: "bar", role: "meter", "aria-valuemin": -1, "aria-valuemax": 1, hidden: true },
      this.fill,
    );
    this.options = h("div", { class: "options" });
    this.result = h("div", { class: "result" });
    this.held = false; // a button is being pressed: a new table would swallow the click
    this.result.addEventListener("pointerdown", () => {
      this.held = true;
    });
    for (const type of ["pointerup", "pointercancel"]) {
      addEventListener(type, () => setTimeout(() => this.#release()), view.board.ends);
    }
    this.element = h(
      "section",
      { class: "panel", "aria-label": "Understand" },
      h("h2", {}, "Understand"),
      this.options,
      this.result,
    );
  }

  #release() {
    if (this.held) {
      this.held = false;
      this.#drawResult();
    }
  }

  get wanted() {
    const { bar, board, table, threats } = this.wishes;
    return bar || board !== "off" || table || threats;
  }

  #drawOptions() {
    const { game } = this.view;
    const check = (name, text) =>
      h(
        "label",
        { class: "check" },
        h("input", {
          type: "checkbox",
          checked: this.wishes[name],
          "data-wish": name,
          onchange: (event) => this.#wish(name, event.target.checked),
        }),
        text,
      );
    const looks = [
      ["off", "nothing"],
      ["policy", "policy"],
      ["visits", "the best moves"],
    ];
    if (game.solved) looks.push(["solver", "the solver's verdict"]);
    const board = looks.some(([value]) => value === this.wishes.board) ? this.wishes.board : "off";
    this.options.replaceChildren(
      check("bar", "Value bar"),
      check("table", "Table of moves"),
      check("threats", "Threats"),
      ...(game.network ? [check("network", "Search with the network")] : []),
      select("On the board", looks, board, (value) => this.#wish("board", value)),
    );
  }

  #wish(name, value) {
    this.wishes[name] = value;
    remember("understand", this.wishes);
    this.asked = "";
    this.positionChanged();
  }

  /** The board shows another position: search it, if that is wanted. */
  positionChanged() {
    const { view } = this;
    if (!this.options.childElementCount) this.#drawOptions();
    const { ply, line, revision, actor } = view.shown;
    const key = JSON.stringify([ply, line, revision]);
    const { yours, paused, over } = view.table;
    const soonOver = view.following && !yours && !paused && !over && !view.watched; // an agent answers at once
    if (!this.wanted || actor < 0 || soonOver) {
      if (this.request) view.connection.send("stop");
      this.request = 0;
      this.asked = "";
      this.found = null;
    } else if (key !== this.asked) {
      this.asked = key;
      this.found = null;
      const { network } = this.wishes;
      const fields = { table: view.id, ply, line, network: Boolean(network && view.game.network) };
      this.request = view.connection.send("analyse", fields, (refusal) => {
        this.result.textContent = refusal.message;
      });
    }
    this.draw();
  }

  /** @param {any} message */
  receive(message) {
    if (message.request !== this.request) return;
    this.found = message;
    searched.add(this.view.table.game);
    this.draw();
  }

  /** Draw what is known and wanted. */
  draw() {
    this.#drawBar();
    this.#drawBoard();
    this.#drawResult();
  }

  #drawBar() {
    const { bar } = this.wishes;
    this.bar.hidden = !bar;
    const { table, shown, flipped } = this.view;
    if (!bar || !table) return;
    const result = { first: 1, second: -1, draw: 0 }[table.outcome];
    const value = this.found?.value ?? (shown.actor < 0 ? result : undefined) ?? 0;
    const below = (table.players[table.view]?.side ?? 0) ^ Number(flipped);
    const share = (1 + (below === 0 ? value : -value)) / 2;
    this.fill.style.height = `${100 * share}%`;
    this.bar.className = `bar below${below} ${table.sides[0].toLowerCase()}`;
    this.bar.setAttribute("aria-valuenow", value.toFixed(2));
    this.bar.setAttribute("aria-label", `Value for ${table.sides[0]}`);
    this.bar.title = `${value.toFixed(2)} for ${sideInWords(table.sides[0])}. ${SCALE}.`;
  }

  #drawBoard() {
    const marks = this.found ? [...this.#moveMarks(), ...this.#threatMarks()] : [];
    this.view.board.mark([...marks, ...this.view.hinted]);
  }

  #moveMarks() {
    const { board } = this.wishes;
    const { clicks, analysis } = this.found;
    const { moves } = analysis;
    const mark = (move, marked) => ({ clicks: clicks[move.action], ...marked });
    if (board === "solver") {
      return moves.filter((move) => move.exact !== null).map((move) => mark(move, verdict(move)));
    }
    if (board === "off") return [];
    const shares = board === "policy" ? moves.map((move) => ({ move, share: move.prior })) : preferred(moves);
    const best = shares.filter(({ share }) => share >= LEAST_SHARE).sort((a, b) => b.share - a.share);
    return best.slice(0, MOST_ARROWS).map(({ move, share }) => mark(move, { share, kind: "move" }));
  }

  #threatMarks() {
    if (!this.wishes.threats) return [];
    return this.found.threats.map((each) => ({ clicks: each.clicks, share: 0.8, kind: "threat", text: "!" }));
  }

  #drawResult() {
    const { found, wishes } = this;
    if (this.held) return undefined;
    if (!this.wanted) return this.result.replaceChildren(h("p", { class: "soft" }, "Switch on what you want to see."));
    if (!found) {
      const searching = `Searching …${searched.has(this.view.table.game) ? "" : FIRST}`;
      return this.result.replaceChildren(
        h("p", { class: "soft" }, this.request ? searching : "Nothing to search here."),
      );
    }
    const { analysis, effort, done } = found;
    const rate = `${effort}, ${analysis.seconds.toFixed(1)} s${done ? "" : " …"}`;
    const proven = analysis.proven ? `, proven: a ${analysis.proven}` : "";
    const parts = [];
    if (wishes.threats) parts.push(threatList(found.threats));
    if (wishes.table) parts.push(this.#table());
    return redraw(this.result, ...parts, h("p", { class: "soft" }, rate + proven));
  }

  #table() {
    const { moves } = this.found.analysis;
    const solved = moves.some((move) => move.exact !== null);
    const visited = moves.some((move) => move.visits > 0); // by a tree search
    const heads = ["Move", ...(visited ? ["Prior", "Visits"] : []), "Value", ...(solved ? ["Solver"] : [])];
    const known = visited || solved ? moves : moves.filter((move) => move.value !== null);
    const shown = known.slice(0, SHOWN_MOVES);
    const rows = shown.flatMap((move) => this.#rows(move, visited, solved, heads.length));
    const left = moves.length - shown.length;
    return h(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of moves" },
      h(
        "table",
        { class: "analysis" },
        h("thead", {}, h("tr", {}, ...heads.map((head) => h("th", { scope: "col" }, head)))),
        h("tbody", {}, ...rows),
      ),
      left > 0 && h("p", { class: "soft" }, `${left} more moves`),
      h("p", { class: "soft" }, `${SCALE}, for the side to move.`),
    );
  }

  /** A move, and below it its line. */
  #rows(move, visited, solved, columns) {
    const { ply, line } = this.found;
    const numbers = h(
      "tr",
      {},
      h("th", { scope: "row" }, move.name),
      visited && h("td", {}, `${(100 * move.prior).toFixed(1)}%`),
      visited && h("td", {}, move.visits.toLocaleString("en")),
      h("td", {}, valueInWords(move)),
      solved && h("td", {}, move.words),
    );
    const buttons = playable(this.view, ply, line, move.line, move.actions);
    if (buttons.length < 2) return [numbers];
    return [numbers, h("tr", { class: "line-row" }, h("td", { colspan: columns }, ...buttons))];
  }
}

/** How much a search prefers each move: by its visits or, where alpha-beta has none, by its values. */
export function preferred(moves) {
  const best = Math.max(...moves.map((move) => move.value ?? -1));
  const byValue = (move) => (move.value === null ? 0 : Math.exp((move.value - best) / TEMPERATURE));
  const weights = moves.map(moves.some((move) => move.visits > 0) ? (move) => move.visits : byValue);
  const total = weights.reduce((sum, weight) => sum + weight, 0) || 1;
  return moves.map((move, k) => ({ move, share: weights[k] / total }));
}

function verdict(move) {
  const kind = move.exact > 0 ? "good" : move.exact < 0 ? "bad" : "draw";
  return { share: 1, kind, text: { good: "win", bad: "loss", draw: "draw" }[kind] };
}

function threatList(threats) {
  const items = threats.map((each) => h("li", {}, h("strong", {}, each.name), ` ${each.text}`));
  return items.length
    ? h("ul", { class: "list", "aria-label": "Threats" }, ...items)
    : h("p", {}, "No threat was found.");
}

/** `+0.35`, `win in 3 moves`. @param {any} move */
function valueInWords(move) {
  if (move.proven) {
    const moves = move.distance === 1 ? "move" : "moves";
    return move.distance === null ? move.proven : `${move.proven} in ${move.distance} ${moves}`;
  }
  return move.value === null ? "–" : `${move.value < 0 ? "−" : "+"}${Math.abs(move.value).toFixed(2)}`;
}

/**
 * The moves of a line as buttons that show the position after each.
 * @param {import("./table.js").TableView} view
 * @param {number} ply
 * @param {number[]} before actions between the ply and the line
 * @param {string[]} names
 * @param {number[]} actions
 * @returns {HTMLElement[]}
 */
export function playable(view, ply, before, names, actions) {
  return names.slice(0, Math.min(SHOWN_PLIES, actions.length)).map((name, index) =>
    button(name, () => view.go(ply, [...before, ...actions.slice(0, index + 1)]), {
      class: "link",
      "data-key": `${names[0]} ${index}`,
    }),
  );
}
