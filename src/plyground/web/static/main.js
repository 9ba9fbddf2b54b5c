// The page: one connection, one view at a time, chosen by the part of the address after `#`.

import { Connection } from "./connection.js";
import { closeWindows } from "./dialog.js";
import { byId, markPage, toast } from "./dom.js";
import { LearnView } from "./learn.js";
import { PlayView } from "./play.js";
import { remember, remembered } from "./preferences.js";
import { TableView } from "./table.js";
import { WatchView } from "./watch.js";

/**
 * What all views share.
 * @typedef {{connection: Connection, games: any[], tables: any[], runs: any[]}} App
 */

const VIEWS = { "": PlayView, watch: WatchView, learn: LearnView, table: TableView };

class Page {
  constructor() {
    this.view = null;
    this.app = { games: [], tables: [], runs: [], connection: null };
    const connection = new Connection((up, why) => this.#connected(up, why));
    this.app.connection = connection;
    connection.on("welcome", (message) => this.#welcome(message));
    connection.on("tables", (message) => this.#changed({ tables: message.tables }));
    connection.on("runs", (message) => this.#changed({ runs: message.runs }));
    connection.on("failed", (message) => message.table || toast(message.text));
    connection.on("refused", (message, handled) => handled || toast(message.text));
    addEventListener("hashchange", () => this.#route());
  }

  #connected(up, why) {
    const lost = why ? `The server has closed the connection: ${why}.` : "The server does not answer.";
    byId("connection").textContent = up ? "" : `${lost} Trying again …`;
    if (!up) this.lost = true;
  }

  #welcome({ games, tables, runs }) {
    Object.assign(this.app, { games, tables, runs });
    if (!this.view) this.#route();
    else if (this.lost) this.view.reconnect?.();
    else this.view.changed?.();
    this.lost = false;
  }

  #changed(news) {
    Object.assign(this.app, news);
    this.view?.changed?.();
  }

  #route() {
    if (!this.app.games.length || location.hash === "#main") return;
    const [name, id] = location.hash.replace(/^#\/?/, "").split("/");
    const View = VIEWS[name] ?? PlayView;
    this.view?.leave?.();
    closeWindows();
    const main = byId("main");
    main.replaceChildren();
    this.view = new View(this.app, main, decodeURIComponent(id ?? ""));
    if (name !== "table") markPage(name); // a table says by itself whether it is watched
    scrollTo(0, 0);
    if (this.routed) main.focus({ preventScroll: true }); // the element that had the focus is gone
    this.routed = true;
  }
}

function theme() {
  const choice = byId("theme");
  const apply = () => {
    if (choice.value) document.documentElement.dataset.theme = choice.value;
    else delete document.documentElement.dataset.theme;
  };
  choice.value = remembered("theme", "");
  choice.addEventListener("change", () => {
    remember("theme", choice.value);
    apply();
  });
  apply();
}

theme();
new Page();
