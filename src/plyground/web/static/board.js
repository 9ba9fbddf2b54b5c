// The board: draws the scene of a position and turns clicks, drags and keys into the path of an action.
// It knows no rules: the server lists the legal actions with their click paths.

import { animate } from "./animation.js";
import { drag } from "./drag.js";
import { h } from "./dom.js";
import { drawing } from "./drawings.js";
import { cellLabel, zoneLabel } from "./labels.js";
import { drawOverlay } from "./overlay.js";
import { click, nextWords } from "./paths.js";

/** @typedef {{name: string, items: import("./drawings.js").Item[], marks: string[], click: string}} Cell */
/**
 * @typedef {{name: string, rows: number, columns: number, cells: Cell[], row_labels: string[],
 *   column_labels: string[]}} Zone
 */
/** @typedef {{zones: Zone[], status: string}} Scene */
/** The last action of an unfinished turn, which may be taken back: its clicks, and the first clicks of the other actions
 * that were legal in its place.
 * @typedef {{clicks: string[], others: string[]}} Begun
 */
/** What is shown; `side`: whose choices these are; `last`: names of the board's cells that the last turn has changed.
 * @typedef {{scene: Scene, choices: import("./paths.js").Action[], begun?: Begun | null, side?: number,
 *   last: string[], sides: string[], flipped?: boolean}} Shown
 */

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

export class Board {
  /**
   * @param {HTMLElement} host
   * @param {(action: import("./paths.js").Action) => void} onAction called with an action that a person has chosen
   * @param {() => void} onBack called when a person takes back the action that has begun the turn
   * @param {string} [name] says to screen readers which board it is
   */
  constructor(host, onAction, onBack, name = "") {
    this.host = host;
    this.onAction = onAction;
    this.onBack = onBack;
    this.name = name;
    /** @type {Shown | null} */
    this.shown = null;
    this.clicks = [];
    this.back = new Set(); // words of clicks that take back the begun action, and
    this.instead = new Set(); // that begin another one in its place
    this.pending = false; // an action was chosen or taken back, and the server has not answered
    this.waiting = []; // what else was done meanwhile
    this.dragged = false; // the last press was a drag, not a click
    this.marked = []; // arrows and heat of an analysis, a hint
    this.zones = new Map();
    this.ends = new AbortController(); // of listeners outside the board
    host.classList.add("scene");
    host.addEventListener("click", (event) => this.#clicked(event));
    host.addEventListener("keydown", (event) => this.#key(event));
    host.addEventListener("focusin", (event) => this.#focused(event));
    host.addEventListener("pointerover", (event) => this.#over(event.target.closest(".cell")));
    host.addEventListener("pointerleave", () => this.#over(null));
    drag(this);
  }

  /** Draw a position. @param {Shown} shown @param {{still?: boolean}} [options] `still`: no animation */
  show(shown, { still = false } = {}) {
    const before = this.shown && !still ? this.#places() : null;
    this.shown = shown;
    this.clicks = [];
    this.pending = false;
    this.#draw();
    if (before) animate(this, before);
    while (this.waiting.length && !this.pending) this.waiting.shift()();
  }

  /** Arrows and heat over the board. @param {import("./overlay.js").Mark[]} marked */
  mark(marked) {
    this.marked = marked;
    this.#drawMarks();
  }

  /** A click on a cell, by its word; false: it changes nothing. @param {string} word */
  press(word) {
    if (!this.shown || this.pending) return false;
    const result = click(this.shown.choices, this.clicks, word);
    if (!result.changed) return this.#pressBefore(word);
    this.clicks = result.clicks;
    this.pending = result.action !== null;
    this.#drawState();
    if (result.action) this.onAction(result.action);
    else this.#focusChooser();
    return true;
  }

  /** A click that has no meaning after the action which has begun the turn, but in its place. @param {string} word */
  #pressBefore(word) {
    if (!this.back.has(word) && !this.instead.has(word)) return false;
    if (this.instead.has(word)) this.waiting.push(() => this.press(word));
    this.putDown();
    return true;
  }

  /** Something was dragged to a cell; null: beside the board. What may not go there is put down. */
  drop(word) {
    if (this.pending) this.waiting.push(() => this.drop(word));
    else if (nextWords(this.shown.choices, this.clicks).has(word)) this.press(word);
    else this.putDown();
  }

  /** Forget the clicks so far or, if there are none, take back the last action of the unfinished turn. */
  putDown() {
    if (this.pending) return;
    if (this.clicks.length || !this.shown?.begun) return this.cancel();
    this.pending = true;
    this.#drawState();
    this.onBack();
  }

  /** Forget the clicks so far, or an action that was refused. */
  cancel() {
    this.clicks = [];
    this.pending = false;
    this.waiting = [];
    this.#drawState();
  }

  /** The board is shown no more. */
  close() {
    this.ends.abort();
  }

  /** The cells of the scene as elements. @returns {HTMLElement[]} */
  cells() {
    return [...this.host.querySelectorAll(".cell")];
  }

  // ---- drawing ----

  #draw() {
    const kept = document.activeElement?.closest?.(".cell");
    const focus = kept && this.host.contains(kept) ? kept.dataset.cell : null;
    const names = new Set(this.shown.scene.zones.map((zone) => zone.name));
    for (const [name, entry] of this.zones) {
      if (!names.has(name)) {
        entry.element.remove();
        this.zones.delete(name);
      }
    }
    const [main] = this.shown.scene.zones;
    this.host.style.setProperty("--rows", String(main.rows));
    this.host.style.setProperty("--columns", String(main.columns));
    this.shown.scene.zones.forEach((zone, index) => this.#drawZone(turned(zone, this.shown.flipped), index));
    this.#drawState();
    if (focus !== null && !this.host.contains(document.activeElement)) {
      const again = this.cells().find((cell) => cell.dataset.cell === focus && cell.offsetParent);
      if (again) again.focus({ preventScroll: true });
      else this.focus();
    }
  }

  #drawZone(zone, index) {
    const layout = `${zone.rows}x${zone.columns}:${zone.cells.map((cell) => cell.name).join()}`;
    let entry = this.zones.get(zone.name);
    if (!entry || entry.layout !== layout) {
      const element = newZone(zone, index);
      if (entry) entry.element.replaceWith(element);
      else if (index === 0) this.host.prepend(element);
      else this.host.append(element);
      const grid = element.querySelector(".grid");
      entry = { element, grid, layout, cells: [...element.querySelectorAll(".cell")], drawn: [] };
      this.zones.set(zone.name, entry);
    }
    entry.zone = zone;
    zone.cells.forEach((cell, number) => {
      const drawn = JSON.stringify(cell.items);
      if (entry.drawn[number] === drawn) return;
      entry.drawn[number] = drawn;
      const items = cell.items.map((item, k) => drawing(item, k, pieces(cell).length));
      entry.cells[number].replaceChildren(...items);
      entry.cells[number].classList.toggle("union", pieces(cell).length > 1);
    });
  }

  /** Classes and labels of all cells: what is selected, what may be clicked, what the last move was. */
  #drawState() {
    const { choices, last, sides } = this.shown;
    const next = nextWords(choices, this.clicks);
    const first = this.clicks.length ? nextWords(choices, []) : next;
    const { begun = null, scene } = this.shown;
    const lifted = scene.zones.some((zone) => zone.cells.some((cell) => cell.marks.includes("lifted")));
    const lastCells = new Set(last);
    this.#readBegun(next);
    for (const { element, grid, cells, zone } of this.zones.values()) {
      const due = zone.cells.some((cell) => next.has(cell.click));
      element.classList.toggle("due", due);
      const closes = isChooser(zone) && !due && !element.hidden;
      if (closes && element.contains(document.activeElement)) this.focus();
      element.hidden = isChooser(zone) && !due;
      grid.setAttribute("aria-label", [this.name, zoneLabel(zone)].filter(Boolean).join(", "));
      zone.cells.forEach((cell, number) => {
        const goesOn = this.clicks.length > 0 || lifted || (begun && !this.#hasOwn(cell));
        const restarts = first.has(cell.click) || this.back.has(cell.click) || this.instead.has(cell.click);
        const state = {
          selected: this.clicks.includes(cell.click),
          target: goesOn && next.has(cell.click),
          movable: !goesOn && next.has(cell.click),
          other: !next.has(cell.click) && restarts,
          last: zone.name === "board" && lastCells.has(cell.name),
        };
        const node = cells[number];
        for (const [name, on] of Object.entries(state)) node.classList.toggle(name, on);
        for (const mark of MARKS) node.classList.toggle(mark, cell.marks.includes(mark));
        if (cell.items.length) node.setAttribute("data-items", cell.items.map((item) => item.kind).join(" "));
        else node.removeAttribute("data-items");
        node.setAttribute("aria-selected", String(state.selected));
        node.setAttribute("aria-label", cellLabel(cell, zone, sides, state));
      });
    }
    this.host.classList.toggle("yours", choices.length > 0);
    this.host.classList.toggle("pending", this.pending);
    this.#drawMarks();
  }

  /** The clicks that take back the action which has begun the turn: on the cell that a piece has left and, to take
   * another one instead, on that. */
  #readBegun(next) {
    const { begun, scene } = this.shown;
    const cells = begun && !this.clicks.length ? scene.zones.flatMap((zone) => zone.cells) : [];
    const left = cells.filter((cell) => begun.clicks.includes(cell.click) && !this.#hasOwn(cell));
    const others = cells.filter((cell) => left.length && begun.others.includes(cell.click) && this.#hasOwn(cell));
    const words = (found) => new Set(found.map((cell) => cell.click).filter((word) => !next.has(word)));
    this.back = words(left);
    this.instead = words(others);
  }

  /** Whether a piece of the side that acts stands on a cell. @param {Cell} cell */
  #hasOwn(cell) {
    return cell.items.some((item) => item.side === this.shown.side);
  }

  #drawMarks() {
    const entry = this.zones.get("board");
    if (entry) drawOverlay(entry, this.marked);
  }

  /** Where every item stands: name of the cell → its kinds and its rectangle. */
  #places() {
    const places = new Map();
    for (const { cells, zone } of this.zones.values()) {
      zone.cells.forEach((cell, number) => {
        places.set(cell.name, { items: cell.items, rect: cells[number].getBoundingClientRect() });
      });
    }
    return places;
  }

  // ---- mouse and keys ----

  #clicked(event) {
    const cell = event.target.closest(".cell");
    if (cell && !this.dragged) this.press(cell.dataset.click);
  }

  /** All cells with the word of the one under the pointer: a column. */
  #over(cell) {
    for (const each of this.cells()) each.classList.toggle("hover", each.dataset.click === cell?.dataset.click);
  }

  #focused(event) {
    const cell = event.target.closest(".cell");
    if (!cell) return;
    for (const each of cell.closest(".zone").querySelectorAll(".cell")) each.tabIndex = each === cell ? 0 : -1;
  }

  #key(event) {
    const cell = event.target.closest(".cell");
    if (!cell || event.ctrlKey || event.metaKey || event.altKey) return;
    const column = `column:${event.key}`;
    if (event.key === " " || event.key === "Enter") this.press(cell.dataset.click);
    else if (event.key === "Escape") this.putDown();
    else if (event.key in STEPS || event.key === "Home" || event.key === "End") this.#step(cell, event.key);
    else if (this.cells().some((each) => each.dataset.click === column)) this.press(column);
    else return;
    event.preventDefault();
  }

  #step(cell, key) {
    const { cells, zone } = this.zones.get(cell.closest(".zone").dataset.zone);
    const place = cells.indexOf(cell);
    const row = Math.floor(place / zone.columns);
    const [down, right] = STEPS[key] ?? [0, key === "Home" ? -zone.columns : zone.columns];
    const column = Math.max(0, Math.min(zone.columns - 1, (place % zone.columns) + right));
    const next = Math.max(0, Math.min(zone.rows - 1, row + down));
    cells[next * zone.columns + column]?.focus();
  }

  /** To the cell of the board that had the focus before, or the first one. */
  focus() {
    this.zones.get("board")?.element.querySelector('.cell[tabindex="0"]')?.focus({ preventScroll: true });
  }

  /** A chooser that has appeared takes the keyboard's focus, if the focus was on the board. */
  #focusChooser() {
    if (!this.host.contains(document.activeElement)) return;
    for (const { element, cells, zone } of this.zones.values()) {
      if (isChooser(zone) && !element.hidden) cells[0].focus();
    }
  }
}

const MARKS = ["win", "check", "locked", "lifted", "promotes", "pattern", "reason"];
const PIECE_KINDS = new Set(["pawn", "knight", "bishop", "rook", "queen", "king"]);

const pieces = (cell) => cell.items.filter((item) => PIECE_KINDS.has(item.kind));

/** Whether a zone is a row of choices beside the board, which is shown only when one of them is due. */
function isChooser(zone) {
  const kinds = zone.cells.flatMap((cell) => cell.items.map((item) => item.kind));
  return (
    zone.name !== "board" &&
    zone.rows === 1 &&
    zone.name !== "hand" &&
    !kinds.some((kind) => kind.startsWith("card:") || kind.startsWith("text:"))
  );
}

/** Whether several cells of a column have one word: a disc is dropped there. */
export function isDropped(zone) {
  return zone.rows > 1 && zone.cells[0].click === zone.cells[zone.columns]?.click;
}

/** The zone of the board turned by 180 degrees; a board with falling discs is never turned. */
function turned(zone, flipped) {
  if (!flipped || zone.name !== "board" || isDropped(zone)) return zone;
  const back = (list) => [...list].reverse();
  const { cells, row_labels, column_labels } = zone;
  return { ...zone, cells: back(cells), row_labels: back(row_labels), column_labels: back(column_labels) };
}

function look(zone) {
  if (isDropped(zone)) return "drop";
  const kinds = zone.cells.flatMap((cell) => cell.items.map((item) => item.kind));
  if (kinds.some((kind) => kind.startsWith("card:"))) return "cards";
  if (kinds.some((kind) => kind.startsWith("text:"))) return "text";
  return zone.columns === 1 && zone.rows > 1 ? "list" : "squares";
}

function newZone(zone, index) {
  const rows = Array.from({ length: zone.rows }, (_, row) => h("div", { role: "row" }, ...newCells(zone, row)));
  const grid = h("div", { class: "grid", role: "grid" }, ...rows);
  const labels = (name, texts) =>
    texts.length > 0 &&
    h("div", { class: name, "aria-hidden": "true" }, ...[...texts].map((text) => h("span", {}, text)));
  const title = zone.name !== "board" && h("div", { class: "zone-title", "aria-hidden": "true" }, zoneLabel(zone));
  const element = h(
    "div",
    { class: `zone ${look(zone)} ${index ? "beside" : "main"}`, "data-zone": zone.name },
    title,
    labels("row-labels", zone.row_labels),
    grid,
    labels("column-labels", zone.column_labels),
  );
  element.style.setProperty("--rows", String(zone.rows));
  element.style.setProperty("--columns", String(zone.columns));
  return element;
}

function newCells(zone, row) {
  return zone.cells.slice(row * zone.columns, (row + 1) * zone.columns).map((cell, column) =>
    h("div", {
      class: `cell ${(row + column) % 2 ? "dark" : "light"}`,
      role: "gridcell",
      tabindex: row === 0 && column === 0 ? "0" : "-1",
      "data-cell": cell.name,
      "data-click": cell.click,
    }),
  );
}
