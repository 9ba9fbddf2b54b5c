// Fields of the forms in which a game is chosen: game, settings, agents.

import { h } from "./dom.js";
import { sideInWords } from "./drawings.js";

const GROUPS = {
  levels: "Levels",
  scripted: "Scripted agents",
  search: "Search",
  engines: "Engines",
  networks: "Networks",
  runs: "Runs",
  added: "Added",
};

/**
 * A labelled select.
 * @param {string} label
 * @param {(string | string[])[]} options values, or values with their texts
 * @param {string} value
 * @param {(value: string) => void} onchange
 * @param {string} [hint] what it means, below it
 */
export function select(label, options, value, onchange, hint = "") {
  const items = options.map((each) => {
    const [key, text] = typeof each === "string" ? [each, each] : each;
    return h("option", { value: key, selected: key === value }, text);
  });
  const named = hint && { "aria-label": label, "aria-description": hint }; // else the hint would be part of the name
  const field = h("select", { onchange: (event) => onchange(event.target.value), ...named }, ...items);
  return h("label", { class: "field" }, h("span", {}, label), field, hint && h("small", { class: "soft" }, hint));
}

/**
 * A select of a game's agents, in groups.
 * @param {string} label
 * @param {any} game
 * @param {string} value
 * @param {(value: string) => void} onchange
 */
export function agentSelect(label, game, value, onchange) {
  const option = (each) =>
    h("option", { value: each.id, selected: each.id === value, title: each.meaning || null }, each.name);
  const groups = Object.entries(GROUPS).map(([group, name]) => {
    const members = game.opponents.filter((each) => each.group === group);
    return members.length > 0 && h("optgroup", { label: name }, ...members.map(option));
  });
  const field = h("select", { onchange: (event) => onchange(event.target.value) }, ...groups);
  return h("label", { class: "field" }, h("span", {}, label), field);
}

/**
 * Tiles to choose a game.
 * @param {any[]} games
 * @param {string} value
 * @param {string} name of the group of radio buttons
 * @param {(id: string) => void} onchange
 */
export function gameTiles(games, value, name, onchange) {
  const tiles = games.map((game) =>
    h(
      "label",
      { class: "tile" },
      h("input", {
        type: "radio",
        name,
        value: game.id,
        checked: game.id === value,
        onchange: () => onchange(game.id),
      }),
      h("span", {}, game.name),
    ),
  );
  return h("fieldset", { class: "tiles" }, h("legend", {}, "Game"), ...tiles);
}

/**
 * A select for each setting of a game.
 * @param {any} game
 * @param {Record<string, string>} chosen
 * @param {() => void} onchange
 */
export function settingSelects(game, chosen, onchange) {
  return game.settings.map((setting) =>
    select(
      setting.name.replaceAll("_", " "),
      setting.choices,
      chosen[setting.name] ?? setting.choices[0],
      (value) => {
        chosen[setting.name] = value;
        onchange();
      },
      setting.meaning,
    ),
  );
}

/** How many seats a game has with these settings. @param {any} game @param {Record<string, string>} settings */
export function seatsOf(game, settings) {
  return Number(settings.seats ?? game.seats);
}

/** The settings that differ from the defaults. @param {any} game @param {Record<string, string>} chosen */
export function changedSettings(game, chosen) {
  const known = game.settings.filter((each) => each.name in chosen && chosen[each.name] !== each.choices[0]);
  return Object.fromEntries(known.map((each) => [each.name, chosen[each.name]]));
}

/** A seat in words. @param {any} game @param {number} seat @param {number} seats */
export function seatName(game, seat, seats) {
  const side = sideInWords(game.sides[seat % 2]);
  return seats === 2 ? side : `${side}, seat ${seat + 1}`;
}
