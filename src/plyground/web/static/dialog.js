// Questions and texts in a window over the page.

import { button, h, removeToast } from "./dom.js";

/** Close what stands over the page: questions, texts, sentences. */
export function closeWindows() {
  for (const dialog of document.querySelectorAll("dialog")) dialog.close("");
  removeToast();
}

/**
 * Ask a question.
 * @param {string} text
 * @param {Record<string, string>} answers value → text of its button, the first one is the proposal
 * @returns {Promise<string>} the value; empty: the question was closed
 */
export function question(text, answers) {
  return new Promise((resolve) => {
    const close = (value) => () => dialog.close(value);
    const buttons = Object.entries(answers).map(([value, label], index) =>
      button(label, close(value), { class: index ? "" : "primary" }),
    );
    const dialog = h(
      "dialog",
      { "aria-label": text, onclose: () => finish() },
      h("p", {}, text),
      h("div", { class: "row" }, ...buttons, button("Cancel", close(""))),
    );
    const finish = () => {
      resolve(dialog.returnValue);
      dialog.remove();
    };
    document.body.append(dialog);
    dialog.showModal();
  });
}

/**
 * Show texts that can be copied.
 * @param {string} title
 * @param {Record<string, string>} texts label → text
 */
export function texts(title, texts) {
  const fields = Object.entries(texts).map(([label, text]) => copied(label, text));
  const dialog = h(
    "dialog",
    { "aria-label": title, onclose: () => dialog.remove() },
    h("h2", {}, title),
    ...fields,
    h(
      "div",
      { class: "row" },
      button("Close", () => dialog.close()),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
}

function copied(label, text) {
  const rows = Math.min(12, text.split("\n").length);
  const area = h("textarea", { readonly: true, rows, spellcheck: "false" });
  area.value = text;
  const copy = button("Copy", async () => {
    area.select();
    await navigator.clipboard?.writeText(text).catch(() => document.execCommand("copy"));
    copy.textContent = "Copied";
  });
  return h("div", { class: "field" }, h("label", {}, label, area), copy);
}
