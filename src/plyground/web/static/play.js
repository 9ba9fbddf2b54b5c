// The first view: begin a game against an agent, open one that is kept, study a position or a game.

import { question } from "./dialog.js";
import { button, h, sign, toast } from "./dom.js";
import { sidesInWords } from "./drawings.js";
import { agentSelect, changedSettings, gameTiles, seatName, seatsOf, select, settingSelects } from "./forms.js";
import { remember, remembered } from "./preferences.js";

const CLOCKS = {
  "": "none",
  "60+0": "1 minute",
  "180+2": "3 minutes + 2 s",
  "300+0": "5 minutes",
  "600+5": "10 minutes + 5 s",
};

export class PlayView {
  /** @param {import("./main.js").App} app @param {HTMLElement} main */
  constructor(app, main) {
    this.app = app;
    this.choice = { game: "", settings: {}, agents: {}, seat: "0", clock: "", ...remembered("play", {}) };
    this.form = h("form", { class: "panel", onsubmit: (event) => this.#begin(event) });
    this.study = h("form", { class: "panel", onsubmit: (event) => this.#study(event) });
    this.list = h("section", { class: "panel", "aria-label": "Games" });
    main.append(h("h1", {}, "Play"), h("div", { class: "columns" }, this.form, h("div", {}, this.list, this.study)));
    document.title = "Plyground";
    this.#drawForm();
    this.#drawStudy();
    this.changed();
  }

  get game() {
    return this.app.games.find((each) => each.id === this.choice.game) ?? this.app.games[0];
  }

  #keep(change) {
    Object.assign(this.choice, change);
    remember("play", this.choice);
  }

  // ---- a new game ----

  #drawForm() {
    const { game, choice } = this;
    const seats = seatsOf(game, choice.settings);
    const redraw = () => {
      remember("play", choice);
      this.#drawForm();
    };
    const mine = [...Array(seats).keys()].map((seat) => [String(seat), seatName(game, seat, seats)]);
    if (seats === 2) mine.push(["random", "either, at random"]);
    this.form.replaceChildren(
      h("h2", {}, "New game"),
      gameTiles(this.app.games, game.id, "game", (id) => {
        this.#keep({ game: id, settings: {}, seat: "0" });
        this.#drawForm();
        this.form.querySelector("input:checked").focus();
      }),
      ...settingSelects(game, choice.settings, redraw),
      select("You play", mine, choice.seat, (seat) => {
        this.#keep({ seat });
        if (seats > 2) this.#drawForm();
      }),
      ...this.#agents(game, seats),
      this.#start(game),
      select("Clock", Object.entries(CLOCKS), choice.clock, (clock) => this.#keep({ clock })),
      h("div", { class: "row" }, h("button", { class: "primary" }, "Play")),
    );
  }

  /** One opponent; with more than two seats an agent for each of the others. */
  #agents(game, seats) {
    const chosen = this.choice.agents;
    const agent = (label, key) => {
      const known = game.opponents.some((each) => each.id === chosen[key]);
      if (!known) chosen[key] = game.default_opponent;
      return agentSelect(label, game, chosen[key], (id) => {
        chosen[key] = id;
        remember("play", this.choice);
      });
    };
    if (seats === 2) return [agent("Against", game.id)];
    const others = [...Array(seats).keys()].filter((seat) => String(seat) !== this.choice.seat);
    return others.map((seat) => agent(seatName(game, seat, seats), `${game.id}:${seat}`));
  }

  /** A position or a game to begin with; folded away, since most games begin at the start. */
  #start(game) {
    this.begins = h("textarea", { rows: 2, spellcheck: "false", placeholder: game.format });
    return h(
      "details",
      {},
      h("summary", {}, "Begin at another position"),
      h("label", { class: "field" }, h("span", {}, "Position or game as text"), this.begins),
    );
  }

  async #begin(event) {
    event.preventDefault();
    const { game, choice } = this;
    const seats = seatsOf(game, choice.settings);
    const mine = choice.seat === "random" ? Math.floor(2 * Math.random()) : Number(choice.seat);
    const agentAt = (seat) => choice.agents[seats === 2 ? game.id : `${game.id}:${seat}`];
    const players = [...Array(seats).keys()].map((seat) => (seat === mine ? "you" : agentAt(seat)));
    const clock = clockOf(choice.clock);
    const settings = changedSettings(game, choice.settings);
    await open(this.app, "new_game", { game: game.id, settings, players, clock, text: this.begins.value.trim() });
  }

  // ---- the games that are kept ----

  /** The lists have changed. */
  changed() {
    const played = (table) => `${table.plies} ${table.plies === 1 ? "ply" : "plies"}`;
    const rows = this.app.tables.map((table) =>
      h(
        "li",
        {},
        h("a", { href: `#/table/${encodeURIComponent(table.id)}` }, table.title),
        h("span", { class: "soft" }, ` ${[played(table), sidesInWords(table.status)].filter(Boolean).join(", ")}`),
        button("Delete", () => this.#delete(table), {
          class: "small",
          "aria-label": `Delete ${table.title}`,
        }),
      ),
    );
    this.list.replaceChildren(
      h("h2", {}, "Games"),
      rows.length ? h("ul", { class: "list tall" }, ...rows) : h("p", { class: "soft" }, "None yet: begin one."),
    );
  }

  /** Delete a game, after a question if something has been played. */
  async #delete({ id, title, plies }) {
    const text = `Delete “${title}”? This cannot be taken back.`;
    if (!plies || (await question(text, { yes: "Delete" }))) this.app.connection.send("delete", { table: id });
  }

  /** The server is there again. */
  reconnect() {
    this.changed();
  }

  // ---- study ----

  #drawStudy() {
    this.text = h("textarea", { rows: 4, spellcheck: "false", placeholder: "FEN, PGN, 4453, or a list of moves" });
    const file = h("input", {
      type: "file",
      onchange: async (event) => {
        this.text.value = await textOf(event.target.files[0] ?? new Blob());
      },
    });
    const games = this.app.games.filter((game) => !game.hidden); // nobody may see all hands
    this.studied = (games.find((game) => game.id === this.game.id) ?? games[0])?.id;
    this.study.hidden = games.length === 0;
    this.number = h("input", { type: "number", min: 1, value: 1, class: "short" });
    this.study.replaceChildren(
      h("h2", {}, "Study a position or a game"),
      select(
        "Game",
        games.map((game) => [game.id, `${game.name} (${game.format})`]),
        this.studied,
        (id) => {
          this.studied = id;
        },
      ),
      h("label", { class: "field" }, h("span", {}, "Text"), this.text),
      h("label", { class: "field" }, h("span", {}, "or a file"), file),
      h("label", { class: "field" }, h("span", {}, "of several games, number"), this.number),
      h("div", { class: "row" }, h("button", {}, "Open")),
    );
  }

  async #study(event) {
    event.preventDefault();
    const game = this.app.games.find((each) => each.id === this.studied);
    const players = Array(game.seats).fill("you");
    const text = this.text.value.trim();
    await open(this.app, "new_game", { game: game.id, players, text, number: Number(this.number.value) || 1 });
  }
}

/** The text of a file in UTF-8, otherwise in Latin-1, which is PGN's standard. @param {Blob} file */
async function textOf(file) {
  const bytes = await file.arrayBuffer();
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("latin1").decode(bytes);
  }
}

/** `180+2` → the clock of the protocol; empty: none. */
function clockOf(text) {
  const [seconds, increment] = text.split("+").map(Number);
  return text ? { seconds, increment } : null;
}

/** The clock that was chosen last. */
export function lastClock() {
  return clockOf(remembered("play", {}).clock ?? "");
}

const SIGN_AFTER = 300; // milliseconds
let opening = false; // a second click begins no second game

/**
 * Ask for a table and go to it. The server may have to compile the game first, which takes seconds.
 * @param {import("./main.js").App} app
 * @param {string} type
 * @param {object} fields
 */
export async function open(app, type, fields) {
  if (opening) return;
  opening = true;
  let removeSign = () => {};
  const wait = setTimeout(() => {
    removeSign = sign("Getting the game ready …");
  }, SIGN_AFTER);
  try {
    const { table, read_as: other } = await app.connection.ask(type, fields);
    const tell = () => toast(`Read as ${other}.`);
    if (other) addEventListener("hashchange", tell, { once: true }); // on the view that follows
    location.hash = `#/table/${encodeURIComponent(table)}`;
  } catch (error) {
    toast(error.message);
  } finally {
    clearTimeout(wait);
    removeSign();
    opening = false;
  }
}
