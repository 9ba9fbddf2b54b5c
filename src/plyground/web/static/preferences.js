// What the person has chosen, remembered by the browser.

const PREFIX = "plyground.";

/** @template T @param {string} name @param {T} initial @returns {T} what was remembered, or the initial value */
export function remembered(name, initial) {
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? initial : JSON.parse(text);
  } catch {
    return initial; // a browser that keeps nothing
  }
}

/** @param {string} name @param {unknown} value */
export function remember(name, value) {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // a browser that keeps nothing
  }
}
