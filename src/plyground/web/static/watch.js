// Agents against agents, and the games that runs have saved.

import { button, h, toast } from "./dom.js";
import { agentSelect, changedSettings, gameTiles, seatName, seatsOf, select, settingSelects } from "./forms.js";
import { open } from "./play.js";
import { remember, remembered } from "./preferences.js";

export class WatchView {
  /** @param {import("./main.js").App} app @param {HTMLElement} main */
  constructor(app, main) {
    this.app = app;
    this.choice = { game: "", settings: {}, agents: {}, ...remembered("watch", {}) };
    this.form = h("form", { class: "panel", onsubmit: (event) => this.#begin(event) });
    this.saved = h("section", { class: "panel" });
    main.append(h("h1", {}, "Watch"), h("div", { class: "columns" }, this.form, this.saved));
    document.title = "Watch · Plyground";
    this.#drawForm();
    this.#drawRuns();
  }

  get game() {
    return this.app.games.find((each) => each.id === this.choice.game) ?? this.app.games[0];
  }

  #drawForm() {
    const { game, choice } = this;
    const seats = seatsOf(game, choice.settings);
    const redraw = () => {
      remember("watch", choice);
      this.#drawForm();
    };
    const agents = [...Array(seats).keys()].map((seat) => {
      const key = `${game.id}:${seat}`;
      if (!game.opponents.some((each) => each.id === choice.agents[key])) choice.agents[key] = game.default_opponent;
      return agentSelect(seatName(game, seat, seats), game, choice.agents[key], (id) => {
        choice.agents[key] = id;
        remember("watch", choice);
      });
    });
    this.form.replaceChildren(
      h("h2", {}, "Agent against agent"),
      gameTiles(this.app.games, game.id, "watched", (id) => {
        Object.assign(choice, { game: id, settings: {} });
        redraw();
        this.form.querySelector("input:checked").focus();
      }),
      ...settingSelects(game, choice.settings, redraw),
      ...agents,
      h("div", { class: "row" }, h("button", { class: "primary" }, "Watch")),
    );
  }

  async #begin(event) {
    event.preventDefault();
    const { game, choice } = this;
    const seats = seatsOf(game, choice.settings);
    const players = [...Array(seats).keys()].map((seat) => choice.agents[`${game.id}:${seat}`]);
    await open(this.app, "new_game", { game: game.id, settings: changedSettings(game, choice.settings), players });
  }

  // ---- games of runs ----

  #drawRuns() {
    const runs = this.app.runs.filter((run) => run.game);
    this.games = h("div");
    const show = (run) => this.#showGames(run);
    this.saved.replaceChildren(
      h("h2", {}, "Games that runs have saved"),
      runs.length
        ? select("Run", [["", "choose a run"], ...runs.map((run) => run.id)], "", (run) => run && show(run))
        : h("p", { class: "soft" }, "There is no run yet: the page Learn starts one."),
      this.games,
    );
  }

  async #showGames(run) {
    try {
      const { games } = await this.app.connection.ask("run_games", { run });
      const rows = games.map(({ file, number, title }) =>
        h(
          "li",
          {},
          button(title, () => open(this.app, "open_run_game", { run, file, number }), { class: "link" }),
        ),
      );
      const none = h("p", { class: "soft" }, "This run has saved no games.");
      this.games.replaceChildren(
        rows.length ? h("ul", { class: "list tall", "aria-label": "Saved games" }, ...rows) : none,
      );
    } catch (error) {
      toast(error.message);
    }
  }
}
