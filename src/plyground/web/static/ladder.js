// Ladders: every chosen agent against every other, and their ratings.

import { button, h } from "./dom.js";
import { select } from "./forms.js";

const MOST = 8;

export class Ladder {
  /** @param {import("./main.js").App} app */
  constructor(app) {
    this.app = app;
    this.game = app.games[0].id;
    this.games = "20";
    this.request = 0;
    this.form = h("form", { onsubmit: (event) => this.#start(event) });
    this.result = h("div");
    this.line = h("p", { role: "status" });
    this.element = h(
      "section",
      { class: "panel", "aria-label": "Ladder" },
      h("h2", {}, "Ladder"),
      this.form,
      this.result,
    );
    this.stop = button("Stop", () => this.#stop(), { disabled: true });
    this.#draw();
  }

  #draw() {
    const game = this.app.games.find((each) => each.id === this.game);
    const preset = new Set(
      game.opponents
        .filter((each) => ["scripted", "runs"].includes(each.group))
        .slice(0, 4)
        .map((each) => each.id),
    );
    const boxes = game.opponents.map((each) =>
      h(
        "label",
        { class: "check" },
        h("input", { type: "checkbox", name: "agent", value: each.id, checked: preset.has(each.id) }),
        each.name,
      ),
    );
    this.form.replaceChildren(
      select(
        "Game",
        this.app.games.map((each) => [each.id, each.name]),
        this.game,
        (id) => {
          this.game = id;
          this.#draw();
          this.form.querySelector("select").focus();
        },
      ),
      h("fieldset", { class: "boxes" }, h("legend", {}, `Agents, 2 to ${MOST}`), ...boxes),
      select("Games of each pair", ["10", "20", "50", "100"], this.games, (value) => {
        this.games = value;
      }),
      h(
        "div",
        { class: "row" },
        h("button", {}, "Play the ladder"),
        this.stop,
      ),
    );
  }

  #start(event) {
    event.preventDefault();
    const opponents = [...this.form.querySelectorAll("input:checked")].map((box) => box.value);
    if (opponents.length < 2 || opponents.length > MOST) {
      this.result.replaceChildren(
        h("p", { role: "alert" }, `Choose 2 to ${MOST} agents; ${opponents.length} are chosen.`),
      );
      return;
    }
    this.line.textContent = "Playing …";
    this.result.replaceChildren(this.line);
    this.stop.disabled = false;
    this.request = this.app.connection.send(
      "ladder",
      { game: this.game, opponents, games: Number(this.games) },
      (refusal) => {
        this.result.replaceChildren(h("p", { role: "alert" }, refusal.message));
        this.stop.disabled = true;
      },
    );
  }

  #stop() {
    this.leave();
    this.line.textContent = "Stopped.";
    this.stop.disabled = true;
  }

  /** The view is left, or the ladder is stopped. */
  leave() {
    if (this.request) this.app.connection.send("stop");
    this.request = 0;
  }

  /** @param {any} message */
  receive(message) {
    if (message.request !== this.request) return;
    const heads = ["Agent", "Elo", "95% interval", "Score"];
    const rows = message.rungs.map((rung) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, rung.name),
        h("td", {}, Math.round(rung.elo)),
        h("td", {}, `${Math.round(rung.low)} to ${Math.round(rung.high)}`),
        h("td", {}, `${Math.round(100 * rung.score)}%`),
      ),
    );
    this.line.textContent = message.done ? "Done." : `Playing ${message.next} …`;
    this.stop.disabled = message.done;
    this.result.replaceChildren(
      this.line,
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, ...heads.map((head) => h("th", { scope: "col" }, head)))),
        h("tbody", {}, ...rows),
      ),
    );
  }
}
