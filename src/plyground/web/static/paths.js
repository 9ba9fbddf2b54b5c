// Click paths: how a person says an action. The server lists the legal actions with their paths; no rule is known here.

/** @typedef {{action: number, name: string, clicks: string[]}} Action */

/** The actions whose paths begin with the clicks. @param {Action[]} actions @param {string[]} clicks */
export function remaining(actions, clicks) {
  return actions.filter((each) => clicks.every((click, index) => each.clicks[index] === click));
}

/** The words that may be clicked next. @param {Action[]} actions @param {string[]} clicks @returns {Set<string>} */
export function nextWords(actions, clicks) {
  const words = remaining(actions, clicks).map((each) => each.clicks[clicks.length]);
  return new Set(words.filter((word) => word !== undefined));
}

/**
 * What a click leads to: more clicks to come, or an action to play. A click that does not go on with the path begins a
 * new one where it can; clicking the first cell again ends the selection; any other click changes nothing.
 * @param {Action[]} actions
 * @param {string[]} clicks the clicks so far
 * @param {string} word the new one
 * @returns {{clicks: string[], action: Action | null, changed: boolean}}
 */
export function click(actions, clicks, word) {
  const longer = [...clicks, word];
  const found = remaining(actions, longer);
  if (found.length === 0) {
    if (clicks.length === 0) return { clicks, action: null, changed: false };
    if (clicks.includes(word)) return { clicks: [], action: null, changed: true };
    const fresh = click(actions, [], word);
    return fresh.changed ? fresh : { clicks, action: null, changed: false };
  }
  const complete = found.find((each) => each.clicks.length === longer.length);
  return complete ? { clicks: [], action: complete, changed: true } : { clicks: longer, action: null, changed: true };
}
