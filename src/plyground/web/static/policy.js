// What the newest checkpoint of a run thinks of a position, live.

import { Board } from "./board.js";
import { h } from "./dom.js";
import { select } from "./forms.js";
import { remember, remembered } from "./preferences.js";
import { preferred } from "./understand.js";

export class PolicyPanel {
  /** @param {import("./main.js").App} app */
  constructor(app) {
    this.app = app;
    this.run = remembered("policy run", "");
    this.text = h("input", {
      value: remembered("policy text", ""),
      spellcheck: "false",
      placeholder: "empty: the start",
    });
    this.form = h("form", { class: "row", onsubmit: (event) => this.#submit(event) });
    this.line = h("p", { class: "soft", role: "status" });
    this.board = new Board(h("div", { class: "small-board" }), () => {}, () => {}, "Policy");
    this.puzzles = h("ul", { class: "list", "aria-label": "Puzzles solved" });
    this.why = h("div");
    this.learned = h("div");
    this.small = []; // the boards in these two
    this.element = h(
      "section",
      { class: "panel", "aria-label": "What it thinks" },
      h("h2", {}, "What it thinks"),
      this.form,
      this.line,
      h("div", { class: "columns" }, this.board.host, this.why, this.puzzles),
      this.learned,
    );
    this.draw();
  }

  /** Draw the choice of runs, whose list may have changed. */
  draw() {
    const runs = this.app.runs.filter((run) => run.game);
    if (!runs.some((run) => run.id === this.run)) this.run = "";
    const key = runs.map((run) => run.id).join();
    if (key === this.drawn) return;
    this.drawn = key;
    this.form.replaceChildren(
      select("Run", [["", "none"], ...runs.map((run) => run.id)], this.run, (run) => this.choose(run)),
      h("label", { class: "field" }, h("span", {}, "Position"), this.text),
      h("button", {}, "Show"),
    );
    this.element.hidden = runs.length === 0;
  }

  /** @param {string} run */
  choose(run) {
    this.run = run;
    remember("policy run", run);
    this.drawn = "";
    this.draw();
    this.watch();
  }

  #submit(event) {
    event.preventDefault();
    remember("policy text", this.text.value);
    this.watch();
  }

  /** Ask for the policy, now and after each new checkpoint. */
  watch() {
    this.line.textContent = this.run
      ? "Waiting for a checkpoint …"
      : "Choose a run to see its policy change while it learns.";
    this.app.connection.send("watch_policy", { run: this.run, text: this.text.value.trim() }, (refusal) => {
      this.line.textContent = refusal.message;
    });
  }

  /** The view is left. */
  leave() {
    for (const board of [this.board, ...this.small]) board.close();
    this.app.connection.send("watch_policy", { run: "" });
  }

  /** @param {any} policy */
  receive(policy) {
    if (policy.run !== this.run) return;
    const run = this.app.runs.find((each) => each.id === policy.run);
    const sides = this.app.games.find((game) => game.id === run?.game)?.sides ?? ["first", "second"];
    this.board.host.dataset.sides = sides[0];
    this.board.show({ scene: policy.scene, choices: [], last: [], sides }, { still: true });
    const { moves } = policy.analysis ?? { moves: [] };
    const shares = moves.some((move) => move.prior !== moves[0].prior)
      ? moves.map((move) => ({ move, share: move.prior }))
      : preferred(moves);
    this.board.mark(shares.map(({ move, share }) => ({ clicks: policy.clicks[move.action], share, kind: "move" })));
    const best = moves.reduce((a, b) => (b.prior > a.prior ? b : a), moves[0]);
    const value = policy.value === null ? "" : `, value ${policy.value.toFixed(2)} (−1 to 1)`;
    this.line.textContent = `Checkpoint ${policy.step}: it prefers ${best?.name ?? "nothing"}${value}.`;
    this.#drawReasons(policy, moves[0], sides);
    this.puzzles.replaceChildren(
      ...Object.entries(policy.puzzles).map(([kind, share]) =>
        h(
          "li",
          {},
          h(
            "label",
            {},
            `${kind.replaceAll("_", " ")}: ${Math.round(100 * share)}% solved `,
            h("meter", { min: 0, max: 1, value: share }),
          ),
        ),
      ),
    );
  }
  /** Why it likes the move, and the patterns that it has learned: a network of n-tuples tells them. */
  #drawReasons(policy, best, sides) {
    for (const board of this.small) board.close();
    this.small = [];
    const small = (scene, name) => {
      const board = new Board(h("div", { class: "small-board" }), () => {}, () => {}, name);
      board.host.dataset.sides = sides[0];
      board.show({ scene, choices: [], last: [], sides }, { still: true });
      this.small.push(board);
      return h("figure", { class: "captioned" }, board.host, h("figcaption", {}, scene.status));
    };
    this.why.replaceChildren(
      ...(policy.why
        ? [
            h("h3", {}, `Why ${best.name}: the value after it without a marked cell`),
            small(policy.why, "Reasons"),
          ]
        : []),
    );
    this.learned.replaceChildren(
      ...policy.learned.flatMap((part) => [
        h("h3", {}, `What it has learned. ${part.title}`),
        h("div", { class: "patterns" }, ...part.boards.map((scene) => small(scene, "Pattern"))),
        h("ul", { class: "list" }, ...part.single.map((words) => h("li", {}, words))),
      ]),
    );
  }
}
