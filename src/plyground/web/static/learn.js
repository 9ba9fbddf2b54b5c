// Runs: their list, live curves side by side, the demo, what a checkpoint thinks, and ladders.

import { chart } from "./chart.js";
import { button, h, redraw, toast } from "./dom.js";
import { select } from "./forms.js";
import { Ladder } from "./ladder.js";
import { PolicyPanel } from "./policy.js";
import { open } from "./play.js";
import { remember, remembered } from "./preferences.js";

const MOST_RUNS = 8; // that can be compared

export class LearnView {
  /** @param {import("./main.js").App} app @param {HTMLElement} main */
  constructor(app, main) {
    this.app = app;
    this.followed = remembered("followed", []).filter((id) => app.runs.some((run) => run.id === id));
    this.points = new Map(); // run → points
    this.metric = remembered("metric", "loss");
    this.others = this.#otherGames();
    this.demo = h("section", { class: "panel", "aria-label": "Demo" });
    this.list = h("section", { class: "panel", "aria-label": "Runs" });
    this.metrics = h("div");
    this.charts = h("div", { class: "charts" });
    this.curves = h(
      "section",
      { class: "panel", "aria-label": "Curves" },
      h("h2", {}, "Curves"),
      this.metrics,
      this.charts,
    );
    this.policy = new PolicyPanel(app);
    this.ladder = new Ladder(app);
    main.append(h("h1", {}, "Learn"), this.demo, this.list, this.curves, this.policy.element, this.ladder.element);
    document.title = "Learn · Plyground";
    this.ends = [
      app.connection.on("curves", (message) => this.#received(message)),
      app.connection.on("policy", (message) => this.policy.receive(message)),
      app.connection.on("laddered", (message) => this.ladder.receive(message)),
    ];
    this.changed();
    this.reconnect();
  }

  /** Another view takes the place of this one. */
  leave() {
    for (const end of this.ends) end();
    this.app.connection.send("follow", { runs: [] });
    this.policy.leave();
    this.ladder.leave();
  }

  /** The server is there again. */
  reconnect() {
    this.#follow();
    this.policy.watch();
  }

  /** The list of runs has changed. */
  changed() {
    const known = new Set(this.app.runs.map((run) => run.id));
    const fresh = this.app.runs.find((run) => this.awaited && run.alive && run.started_here);
    if (fresh) {
      this.awaited = false;
      this.followed = [fresh.id, ...this.followed.filter((id) => id !== fresh.id)].slice(0, MOST_RUNS);
      this.policy.choose(fresh.id);
      this.#follow();
    }
    this.followed = this.followed.filter((id) => known.has(id));
    this.#drawDemo();
    this.#drawList();
    this.policy.draw();
  }

  #follow() {
    remember("followed", this.followed);
    this.app.connection.send("follow", { runs: this.followed });
    this.#drawCurves();
  }

  #received({ curves }) {
    for (const { run, start, points } of curves) {
      const kept = (this.points.get(run) ?? []).slice(0, start);
      this.points.set(run, [...kept, ...points]);
    }
    this.#drawCurves();
  }

  // ---- the demo ----

  #drawDemo() {
    const running = this.app.runs.find((run) => run.alive && run.started_here);
    const start = button("Start the demo", () => this.#start(), {
      class: "primary",
      disabled: Boolean(running),
      "data-key": "start",
    });
    const sentence = "An agent learns Connect Four before your eyes, in about a minute. Play against it while it learns.";
    redraw(
      this.demo,
      h("h2", {}, "See an agent learn"),
      h("p", {}, sentence),
      h("div", { class: "row" }, start, ...(running ? this.#runButtons(running) : [])),
      this.others,
      ...(running
        ? [
            h(
              "p",
              { class: "row", role: "status" },
              h("span", { class: "spinner", "aria-hidden": "true" }),
              running.stopping ? `${running.id} saves a checkpoint and stops …` : `${running.id} is learning.`,
            ),
          ]
        : []),
    );
  }

  /** How each game is learned, or why it cannot be. */
  #otherGames() {
    const rows = this.app.games.map((game) => h("li", {}, `${game.name}: `, h("code", {}, game.learning)));
    return h(
      "details",
      {},
      h("summary", {}, "Other games, and your own"),
      h("p", {}, "These learn in a terminal; their runs appear below while they learn."),
      h("ul", { class: "list" }, ...rows),
    );
  }

  #start() {
    this.awaited = true;
    this.app.connection.send("start_demo", {}, (refusal) => {
      this.awaited = false;
      toast(refusal.message);
    });
  }

  #runButtons(run) {
    const { connection } = this.app;
    const game = this.app.games.find((each) => each.id === run.game);
    const players = game ? ["you", ...Array(game.seats - 1).fill(run.opponent)] : [];
    const label = (text) => ({ class: "small", "aria-label": `${text}: ${run.id}`, "data-key": `${text} ${run.id}` });
    return [
      run.opponent &&
        game &&
        button(
          "Play against it",
          () => open(this.app, "new_game", { game: game.id, players }),
          label("Play against it"),
        ),
      run.alive &&
        run.started_here &&
        !run.stopping &&
        button("Stop", () => connection.send("stop_run", { run: run.id }), label("Stop")),
      run.resume && button(run.resume, () => connection.send("resume_run", { run: run.id }), label(run.resume)),
    ].filter(Boolean);
  }

  // ---- the list ----

  #drawList() {
    const { runs } = this.app;
    const heads = ["Show", "Run", "Game", "Learner", "Cycles", "Training", "Scores of the best step", ""];
    const rows = runs.map((run) =>
      h(
        "tr",
        {},
        h(
          "td",
          {},
          h("input", {
            type: "checkbox",
            checked: this.followed.includes(run.id),
            "aria-label": `Show ${run.id}`,
            "data-key": `show ${run.id}`,
            onchange: (event) => this.#toggle(run.id, event.target.checked),
          }),
        ),
        h("th", { scope: "row" }, run.id, run.alive && h("span", { class: "live" }, ` ${stateOf(run)}`)),
        h("td", {}, run.game),
        h("td", {}, run.learner),
        h("td", {}, run.cycles),
        h("td", {}, inWords(run.seconds)),
        h(
          "td",
          {},
          Object.entries(run.scores)
            .map(([name, score]) => `${name} ${Math.round(100 * score)}%`)
            .join(", "),
        ),
        h("td", {}, ...this.#runButtons(run), run.message ? h("p", { class: "bad" }, run.message) : ""),
      ),
    );
    const table = h(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "List of runs" },
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, ...heads.map((head) => (head ? h("th", { scope: "col" }, head) : h("td", {}))))),
        h("tbody", {}, ...rows),
      ),
    );
    const none = h("p", { class: "soft" }, "There are no runs yet.");
    redraw(this.list, h("h2", {}, "Runs"), rows.length ? table : none);
  }

  #toggle(id, on) {
    this.followed = this.followed.filter((each) => each !== id);
    if (on) this.followed = [...this.followed, id].slice(-MOST_RUNS);
    this.#follow();
  }

  // ---- curves ----

  #drawCurves() {
    const runs = this.followed.filter((id) => this.points.get(id)?.length);
    this.metrics.hidden = runs.length === 0;
    if (!runs.length) {
      this.charts.replaceChildren(h("p", { class: "soft" }, "Choose runs of the list to see their curves."));
      return;
    }
    this.#drawMetrics(runs);
    const charts = [
      ...this.#scoreCharts(runs),
      this.#numberChart(runs, this.metric),
      this.#numberChart(runs, "plies_per_second"),
    ];
    this.charts.replaceChildren(...charts);
  }

  /** A select of all numbers that the runs report; drawn again only if there are others, lest an open one closes. */
  #drawMetrics(runs) {
    const names = new Set(runs.flatMap((run) => this.points.get(run).flatMap((point) => Object.keys(point.numbers))));
    if (!names.has(this.metric)) this.metric = names.has("loss") ? "loss" : ([...names][0] ?? "loss");
    const known = [...names].sort();
    if (known.join() === this.known) return;
    this.known = known.join();
    this.metrics.replaceChildren(
      select(
        "Metric",
        known.map((name) => [name, spaced(name)]),
        this.metric,
        (name) => {
          this.metric = name;
          remember("metric", name);
          this.#drawCurves();
        },
      ),
    );
  }

  #numberChart(runs, name) {
    const series = runs.map((run) => ({
      name: run,
      points: this.points
        .get(run)
        .filter((point) => name in point.numbers)
        .map((point) => ({ x: point.seconds, y: point.numbers[name] })),
    }));
    return chart({ title: spaced(name), series, x: "seconds of training", from: 0 });
  }

  /** A chart for each evaluation opponent, with intervals. */
  #scoreCharts(runs) {
    const opponents = new Set(
      runs.flatMap((run) => this.points.get(run).flatMap((point) => point.scores.map((score) => score.opponent))),
    );
    return [...opponents].map((opponent) =>
      chart({
        title: `Score against ${opponent === "best" ? "the best checkpoint so far" : opponent}`,
        x: "seconds of training",
        from: 0,
        range: [0, 1],
        percent: true,
        series: runs.map((run) => ({
          name: run,
          points: this.points
            .get(run)
            .flatMap((point) =>
              point.scores
                .filter((score) => score.opponent === opponent)
                .map(({ score, low, high }) => ({ x: point.seconds, y: score, low, high })),
            ),
        })),
      }),
    );
  }
}

const stateOf = (run) => (run.stopping ? "stopping …" : "learning");
const spaced = (name) => name.replaceAll("_", " ");

/** 75 → `1 min 15 s`. @param {number} seconds */
function inWords(seconds) {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return `${(seconds / 3600).toFixed(1)} h`;
}
