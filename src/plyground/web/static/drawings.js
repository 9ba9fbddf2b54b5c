// The drawings: what stands on a cell, as SVG of our own. An unknown kind is drawn as its name.

import { h, s } from "./dom.js";

// Chess pieces on a square of 100 x 100: the outline, and lines inside it.
const PIECES = {
  pawn: [
    "M50 17a14 14 0 0 1 10 24h7v7h-9c1 15 7 22 17 28v9H25v-9c10-6 16-13 17-28h-9v-7h7a14 14 0 0 1 10-24z",
    "M33 77h34",
  ],
  rook: ["M24 18h12v8h8v-8h12v8h8v-8h12v21l-9 7v22l9 9v8H24v-8l9-9V46l-9-7z", "M33 46h34M33 68h34"],
  knight: [
    "M47 14l6 9c17 3 27 18 27 40v22H32c-1-15 7-21 15-31-7 3-12 3-16 8l-6 7c-6-1-10-5-9-11l12-24c2-8 8-11 14-13z",
    "M55 30c9 5 14 16 15 34M32 78h44",
  ],
  bishop: [
    "M50 11a6 6 0 0 1 4 10c10 8 17 17 17 27 0 8-4 13-10 17l3 10c7 1 12 2 15 3v7H21v-7c3-1 8-2 15-3l3-10c-6-4-10-9-10-17 0-10 7-19 17-27a6 6 0 0 1 4-10z",
    "M50 34v16M42 42h16M38 65h24",
  ],
  queen: [
    "M50 12a6 6 0 0 1 3 11l9 25 11-21a6 6 0 1 1 6 2l-7 40 4 8v8H24v-8l4-8-7-40a6 6 0 1 1 6-2l11 21 9-25a6 6 0 0 1 3-11z",
    "M29 69h42M26 77h48",
  ],
  king: [
    "M46 8h8v7h7v8h-7v8c3-3 9-5 15-4 12 2 17 14 12 25-2 5-6 10-9 17l4 8v8H24v-8l4-8c-3-7-7-12-9-17-5-11 0-23 12-25 6-1 12 1 15 4v-8h-7v-8h7z",
    "M50 34v30M29 69h42M26 77h48",
  ],
};
const EYE = { knight: "M41 33l5-2" };

// The four suits on the same square.
const SUITS = {
  h: "M50 86C22 62 12 48 12 33c0-12 9-21 20-21 8 0 14 4 18 12 4-8 10-12 18-12 11 0 20 9 20 21 0 15-10 29-38 53z",
  d: "M50 8L82 50 50 92 18 50z",
  s: "M50 8c24 20 36 34 36 47 0 11-8 19-18 19-6 0-11-3-14-8 1 11 5 18 11 24H35c6-6 10-13 11-24-3 5-8 8-14 8-10 0-18-8-18-19C14 42 26 28 50 8z",
  c: "M50 8a19 19 0 0 1 15 31 19 19 0 1 1-11 29c1 10 5 17 11 22H35c6-5 10-12 11-22a19 19 0 1 1-11-29A19 19 0 0 1 50 8z",
};
const SUIT_NAMES = { h: "hearts", d: "diamonds", s: "spades", c: "clubs" };
const RANK_NAMES = { t: "10", j: "jack", q: "queen", k: "king", a: "ace" };
const EYES = { jd: 2, jc: 2, jh: 1, js: 1 }; // as on printed cards

/** @typedef {{kind: string, side: number | null}} Item */

/**
 * An item as an element that fills its cell.
 * @param {Item} item
 * @param {number} index its number among the items of the cell
 * @param {number} count how many items the cell has
 * @returns {Element}
 */
export function drawing(item, index = 0, count = 1) {
  const [kind, what] = split(item.kind);
  const side = item.side === null ? "" : ` side${item.side}`;
  if (kind in PIECES) return piece(kind, side, count > 1 ? ` partner partner${index}` : "");
  if (kind === "disc") return s("svg", { class: `disc${side}`, viewBox: "0 0 100 100" }, ...disc(item.side, 46));
  if (kind === "chip") return s("svg", { class: `chip${side}`, viewBox: "0 0 100 100" }, ...disc(item.side, 40));
  if (kind === "card") return what === "back" ? h("span", { class: "card back" }) : card(what);
  if (kind === "corner") return s("svg", { class: "corner", viewBox: "0 0 100 100" }, star());
  if (kind === "text") return h("pre", { class: "picture" }, what);
  return h("span", { class: `word${side}` }, item.kind);
}

/** `card:qh` → ["card", "qh"]; `text:a:b` → ["text", "a:b"]. */
function split(kind) {
  const at = kind.indexOf(":");
  return at < 0 ? [kind, ""] : [kind.slice(0, at), kind.slice(at + 1)];
}

function piece(kind, side, partner) {
  const [outline, lines] = PIECES[kind];
  const eye = kind in EYE ? [s("path", { class: "line", d: EYE[kind] })] : [];
  return s(
    "svg",
    { class: `piece${side}${partner}`, viewBox: "0 0 100 100" },
    s("path", { class: "outline", d: outline }),
    s("path", { class: "line", d: lines }),
    ...eye,
  );
}

/** The first side's disc is full, the second's is a ring: shape tells them apart, not colour alone. */
function disc(side, radius) {
  const parts = [s("circle", { class: "outline", cx: 50, cy: 50, r: radius })];
  if (side === 1) parts.push(s("circle", { class: "hole", cx: 50, cy: 50, r: radius * 0.45 }));
  else parts.push(s("circle", { class: "line", cx: 50, cy: 50, r: radius * 0.72 }));
  return parts;
}

function card(name) {
  const [rank, suit] = name;
  if (!(suit in SUITS)) return h("span", { class: "card" }, name);
  const colour = suit === "h" || suit === "d" ? "red" : "black";
  const eyes = Array.from({ length: EYES[name] ?? 0 }, (_, k) => s("circle", { cx: 30 + 40 * k, cy: 50, r: 14 }));
  return h(
    "span",
    { class: `card ${colour}` },
    h("span", { class: "rank" }, rank === "t" ? "10" : rank.toUpperCase()),
    s("svg", { class: "suit", viewBox: "0 0 100 100" }, s("path", { d: SUITS[suit] })),
    eyes.length > 0 && s("svg", { class: "eyes", viewBox: `0 30 ${eyes.length === 2 ? 100 : 60} 40` }, ...eyes),
  );
}

function star() {
  const points = Array.from({ length: 10 }, (_, k) => {
    const radius = k % 2 ? 17 : 40;
    const angle = (Math.PI * k) / 5 - Math.PI / 2;
    return `${50 + radius * Math.cos(angle)},${50 + radius * Math.sin(angle)}`;
  });
  return s("polygon", { points: points.join(" ") });
}

/**
 * An item in words: `white knight`, `queen of hearts`, `blue disc`.
 * @param {Item} item
 * @param {string[]} sides the sides' names
 * @returns {string}
 */
export function itemInWords(item, sides) {
  const [kind, what] = split(item.kind);
  if (kind === "card") return cardInWords(what);
  if (kind === "text") return `board:\n${what}`;
  return item.side === null ? item.kind : `${sideInWords(sides[item.side])} ${item.kind}`;
}

/** `qh` → `queen of hearts`. @param {string} name */
function cardInWords(name) {
  const [rank, suit] = name;
  return name === "back" ? "hidden card" : `${RANK_NAMES[rank] ?? rank} of ${SUIT_NAMES[suit] ?? suit}`;
}

const SPOKEN = { "●": "blue", "○": "orange" }; // the colours in which they are drawn

/** A side's name as it is spoken. @param {string} name */
export function sideInWords(name) {
  return SPOKEN[name] ?? name.toLowerCase();
}

/** A text with the sides' signs in words. @param {string} text */
export function sidesInWords(text) {
  const words = text.replace(/[●○]/g, (sign) => SPOKEN[sign]);
  return words.charAt(0).toUpperCase() + words.slice(1);
}
