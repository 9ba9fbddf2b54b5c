// One game: the board, the players, the moves, and what one may do.

import { Board, isDropped } from "./board.js";
import { question, texts } from "./dialog.js";
import { announce, button, h, markPage, redraw, removeToast, toast } from "./dom.js";
import { sidesInWords } from "./drawings.js";
import { moveList } from "./moves.js";
import { lastClock, open } from "./play.js";
import { Players } from "./players.js";
import { Review } from "./review.js";
import { Understand } from "./understand.js";

export class TableView {
  /** @param {import("./main.js").App} app @param {HTMLElement} main @param {string} id */
  constructor(app, main, id) {
    this.app = app;
    this.id = id;
    this.table = null; // the newest `table`
    this.live = null; // the newest `position` at the end of the line
    this.shown = null; // the `position` on the board
    this.flipped = false;
    this.thinking = "";
    this.hinted = []; // the mark of a hint
    this.players = new Players();
    this.#build(main);
    this.#listen();
    this.reconnect();
  }

  get connection() {
    return this.app.connection;
  }

  get game() {
    return this.app.games.find((game) => game.id === this.table.game);
  }

  /** Whether the board shows the end of the line. */
  get following() {
    return this.shown === this.live;
  }

  /** Whether agents have all seats. */
  get watched() {
    return this.table.players.every((player) => player.id !== "you");
  }

  #build(main) {
    this.board = new Board(
      h("div"),
      (action) => this.#play(action),
      () => this.#putDown(),
    );
    this.understand = new Understand(this);
    this.review = new Review(this);
    this.title = h("h1", { class: "table-title" });
    this.status = h("p", { class: "status" });
    this.sign = h("div", { class: "sign-row", role: "status" });
    this.advice = h("p", { class: "advice", role: "status" });
    this.banner = h("div", { class: "banner" });
    this.controls = h("div", { class: "row controls", role: "group", "aria-label": "Game" });
    this.walk = h("div", { class: "row walk", role: "group", "aria-label": "Walk through the moves" });
    this.moves = h("div", { class: "moves-box" });
    const stage = h(
      "div",
      { class: "stage" },
      this.players.top,
      h("div", { class: "board-row" }, this.understand.bar, this.board.host),
      this.players.bottom,
      this.status,
      this.sign,
      this.banner,
      this.advice,
      this.controls,
      keys(),
    );
    const side = h(
      "aside",
      { class: "side", "aria-label": "Moves and analysis" },
      h(
        "section",
        { class: "panel", "aria-label": "Moves" },
        h("h2", {}, "Moves"),
        this.moves,
        this.walk,
        this.#typed(),
      ),
      this.understand.element,
      this.review.element,
    );
    main.append(this.title, h("div", { class: "table-view" }, stage, side));
  }

  #typed() {
    const field = h("input", {
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: "false",
      "aria-label": "Type a move",
      "aria-describedby": "typing",
      placeholder: "a move",
    });
    this.field = field;
    this.typing = h("p", { class: "soft typing", id: "typing" });
    const submit = (event) => {
      event.preventDefault();
      const text = field.value.trim();
      if (text) this.#change("say", { ply: this.shown.ply, text });
    };
    return h("form", { class: "row typed", onsubmit: submit }, field, h("button", {}, "Play"), this.typing);
  }

  #listen() {
    const own = (handle) => (message) => message.table === this.id && handle(message);
    const on = (type, handle) => this.connection.on(type, handle);
    this.ends = [
      on("table", (message) => message.id === this.id && this.#tableChanged(message)),
      on(
        "position",
        own((message) => this.#positionChanged(message)),
      ),
      on(
        "thinking",
        own((message) => this.#thinks(message)),
      ),
      on(
        "analysed",
        own((message) => this.understand.receive(message)),
      ),
      on(
        "reviewed",
        own((message) => this.review.receive(message)),
      ),
      on(
        "failed",
        own((message) => toast(message.text)),
      ),
      on(
        "deleted",
        own(() => {
          location.hash = "#/";
        }),
      ),
    ];
  }

  /** Another view takes the place of this one. */
  leave() {
    for (const end of this.ends) end();
    this.players.stop();
    this.board.close();
    this.connection.send("stop");
    this.connection.send("close", { table: this.id }, () => {});
  }

  /** Open the table, at first or after the connection was lost. */
  reconnect() {
    this.connection.send("open", { table: this.id }, (refusal) => {
      addEventListener("hashchange", () => toast(refusal.message), { once: true }); // on the view that follows
      location.hash = "#/";
    });
  }

  // ---- messages ----

  #tableChanged(table) {
    const first = this.table === null;
    const news = !first && table.revision !== this.table.revision;
    this.table = table;
    this.board.host.dataset.sides = table.sides[0];
    if (first) markPage(this.watched ? "watch" : "");
    if (news && this.sent) {
      this.field.value = ""; // a typed move that was refused stays, to be corrected
      removeToast(); // nor does the refusal of the former one hold
    }
    if (news && table.event) announce(sidesInWords(table.event));
    if (news && table.over && table.ending) announce(sidesInWords(table.ending));
    if (table.over) this.thinking = "";
    this.players.show(table, this.flipped);
    this.review.tableChanged();
    this.#drawPanels();
  }

  #positionChanged(position) {
    const end = position.line.length === 0 && position.ply === this.table?.moves.length;
    const wanted = position.request !== 0 && position.request === this.looking;
    const follows = this.following || this.live === null;
    if (end) this.live = position;
    const gone = this.shown && this.shown.ply > this.table.moves.length; // another page has taken moves back
    if (wanted || (end && (follows || gone || this.sent))) this.#show(position);
  }

  #show(position) {
    this.sent = false;
    this.looking = 0;
    const step = this.shown
      ? Math.abs(position.ply + position.line.length - this.shown.ply - this.shown.line.length)
      : 9;
    const begins = this.shown === null && !this.watched;
    this.shown = position;
    this.hinted = [];
    this.board.mark([]);
    this.advice.textContent = "";
    this.#drawBoard(step > 2);
    if (begins && document.activeElement?.id === "main") this.board.focus(); // keys work at once; no field loses it
    this.#drawPanels();
    this.understand.positionChanged();
    this.review.positionChanged();
  }

  #drawBoard(still) {
    const { scene, choices, begun, actor, last } = this.shown;
    const { sides } = this.table;
    this.board.show({ scene, choices, begun, side: actor % 2, last, sides, flipped: this.flipped }, { still });
  }

  #thinks({ on, name }) {
    this.thinking = on ? name : "";
    this.#drawSign();
  }

  /** Look at a ply, or at a line of actions from there. @param {number} ply @param {number[]} [line] */
  go(ply, line = []) {
    if (!line.length && ply === this.table.moves.length && this.live) {
      if (!this.following) this.#show(this.live);
      return;
    }
    this.looking = this.connection.send("look", { table: this.id, ply, line });
  }

  // ---- what a person does ----

  #play({ action }) {
    this.#change("play", { ply: this.shown.ply, action });
  }

  /** Take back the action that has begun the turn; of an earlier position, look at the one before it. */
  #putDown() {
    const { ply } = this.shown.begun;
    if (this.following) this.#change("undo", { ply });
    else this.go(ply);
  }

  /** Send a change; where it would remove moves, ask first. */
  #change(type, fields) {
    this.sent = true;
    const { revision } = this.table;
    this.connection.send(type, { table: this.id, revision, ...fields }, (refusal) => {
      this.sent = false;
      if (refusal.reason === "prune") this.#prune(type, fields, refusal.message);
      else if (refusal.reason !== "stale") toast(refusal.message);
      this.board.cancel();
    });
  }

  async #prune(type, fields, text) {
    const copy = "action" in fields ? { fork: "Keep it: try this in a copy" } : {};
    const answer = await question(text, { prune: "Remove them", ...copy });
    if (answer === "prune") this.#change(type, { ...fields, prune: true });
    if (answer === "fork") open(this.app, "fork", { table: this.id, ply: fields.ply, line: [fields.action] });
  }

  async #hint() {
    try {
      this.go(this.table.moves.length);
      const { clicks, text } = await this.connection.ask("hint", { table: this.id });
      this.hinted = [{ clicks, share: 1, kind: "hint", text: "hint" }];
      this.understand.draw();
      this.advice.textContent = text;
    } catch (error) {
      toast(error.message);
    }
  }

  async #resign() {
    if (await question("Do you resign this game?", { yes: "Resign" })) this.#change("resign", {});
  }

  /** The same game again, or the same players on the other sides. */
  async #again(swapped) {
    const [, settings = ""] = this.table.spec.split(":");
    const pairs = settings ? settings.split(",").map((pair) => pair.split("=")) : [];
    const players = this.table.players.map((player) => player.id);
    if (swapped) players.reverse();
    const clock = this.table.clocks.length ? lastClock() : null;
    await open(this.app, "new_game", { game: this.table.game, settings: Object.fromEntries(pairs), players, clock });
  }

  async #texts() {
    const { ply } = this.shown;
    const { position, record } = await this.connection.ask("record", { table: this.id, ply });
    texts("Text of the game", { Position: position, Game: record });
  }

  #flip() {
    this.flipped = !this.flipped;
    this.#drawBoard(true);
    this.players.show(this.table, this.flipped);
    this.understand.draw();
  }

  // ---- drawing ----

  #drawPanels() {
    if (!this.table || !this.shown) return;
    this.typing.textContent = `Type ${this.game.typing}.`;
    this.title.textContent = this.table.title;
    document.title = `${this.table.title} · Plyground`;
    const ended = this.table.over && this.following ? this.table.ending : "";
    const { scene, choices, prompt } = this.shown;
    const asked = choices.length && prompt && !scene.status.includes(prompt) ? ` (${prompt})` : "";
    this.status.textContent = ended || sidesInWords(scene.status + asked);
    this.status.classList.toggle("ended", Boolean(ended));
    this.#drawSign();
    this.#drawBanner();
    this.#drawControls();
    this.drawMoves();
  }

  #drawSign() {
    if (!this.table) return;
    const pause = (paused) => () => this.connection.send("pause", { table: this.id, paused });
    if (this.table.paused && !this.table.over && !this.table.yours) {
      this.sign.replaceChildren("The agents are stopped. ", button("Go on", pause(false), { class: "small" }));
    } else if (this.thinking) {
      this.sign.replaceChildren(
        h("span", { class: "spinner", "aria-hidden": "true" }),
        `${this.thinking} is thinking … `,
        button("Stop", pause(true), { class: "small" }),
      );
    } else this.sign.replaceChildren();
  }

  #drawBanner() {
    const { ply, line } = this.shown;
    if (this.following) return this.banner.replaceChildren();
    const back = button("Back to the game", () => this.go(this.table.moves.length), { class: "small" });
    if (!line.length)
      return this.banner.replaceChildren(`You look at ply ${ply} of ${this.table.moves.length}. `, back);
    const tryIt = button("Play on from here in a copy", () => this.fork(ply, line), { class: "small" });
    return this.banner.replaceChildren(`A line: ${line.length} moves after ply ${ply}. `, back, tryIt);
  }

  /** A new table that begins here. @param {number} ply @param {number[]} [line] */
  fork(ply, line = []) {
    open(this.app, "fork", { table: this.id, ply, line });
  }

  #drawControls() {
    const { table, watched } = this;
    const { over, yours, paused, speed } = table;
    const state = JSON.stringify([watched, over, yours, paused, speed, table.moves.length > 0]);
    if (state === this.controlled) return; // an open select would close
    this.controlled = state;
    const named = (name, text, act, disabled = false) => button(text, act, { "data-key": name, disabled });
    const final = over && this.game.hidden; // what was hidden may be seen
    const fixed = this.shown.scene.zones.every((zone) => zone.name !== "board" || isDropped(zone));
    const buttons = watched
      ? [
          this.#speed(),
          named(
            "pause",
            table.paused ? "Go on" : "Pause",
            () => this.connection.send("pause", { table: this.id, paused: !table.paused }),
            table.over,
          ),
        ]
      : [
          named("undo", "Undo", () => this.#change("undo", {}), table.moves.length === 0 || final),
          named("hint", "Hint", () => this.#hint(), table.over || !table.yours),
          named("resign", "Resign", () => this.#resign(), table.over),
        ];
    redraw(
      this.controls,
      ...buttons,
      named("new", "New game", () => this.#again(false)),
      named("swap", "Swap sides", () => this.#again(true)),
      named("flip", "Flip", () => this.#flip(), fixed),
      named("text", "Copy text", () => this.#texts()),
    );
  }

  #speed() {
    const options = { 0: "as fast as they can", 0.3: "fast", 1: "1 s a move", 3: "3 s a move" };
    const items = Object.entries(options).map(([seconds, text]) =>
      h("option", { value: seconds, selected: Number(seconds) === this.table.speed }, text),
    );
    const change = (event) => this.connection.send("speed", { table: this.id, seconds: Number(event.target.value) });
    return h("label", { class: "inline" }, "Speed ", h("select", { onchange: change, "data-key": "speed" }, ...items));
  }

  /** The list of moves, with the mistakes that a review has found. */
  drawMoves() {
    const { moves } = this.table;
    const ply = this.shown.ply;
    const focused = this.moves.contains(document.activeElement);
    const list = moveList(moves, ply, (each) => this.go(each), this.review.mistakes);
    this.moves.replaceChildren(moves.length ? list : h("p", { class: "soft" }, "No moves yet."));
    const current = this.moves.querySelector('[aria-current="true"]');
    if (focused) (current ?? this.moves.querySelector("button"))?.focus({ preventScroll: true });
    if (current) this.moves.scrollTop = current.offsetTop - this.moves.clientHeight / 2;
    const step = (text, label, to) =>
      button(text, () => this.go(to), {
        "aria-label": label,
        "data-key": text,
        disabled: to < 0 || to > moves.length || (to === ply && !this.shown.line.length),
      });
    redraw(
      this.walk,
      step("«", "First position", 0),
      step("‹", "One move back", ply - 1),
      step("›", "One move on", ply + 1),
      step("»", "Last position", moves.length),
    );
  }
}

/** Help for people who play without a mouse. */
function keys() {
  const rows = {
    "Arrow keys": "move over the board",
    "Space or Enter": "click the cell",
    "1, 2, 3 …": "click a column, where a game has columns",
    Escape: "forget the clicks so far, or take back the last action of an unfinished turn",
    Tab: "to the next zone: hand, choices, buttons, moves",
    "Arrow keys in the list of moves": "walk through the game",
  };
  const items = Object.entries(rows).flatMap(([key, what]) => [h("dt", {}, key), h("dd", {}, what)]);
  return h("details", { class: "keys" }, h("summary", {}, "Keys"), h("dl", {}, ...items));
}
