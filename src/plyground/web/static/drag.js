// Dragging an item to another cell: the same clicks as two taps.

const FAR = 8; // pixels after which a press is a drag

/** Let the items of a board be dragged. @param {import("./board.js").Board} board */
export function drag(board) {
  let from = null; // {cell, x, y, ghost}
  const { signal } = board.ends;
  board.host.addEventListener("pointerdown", (event) => {
    board.dragged = false;
    const cell = event.target.closest(".cell");
    if (event.button !== 0 || !cell || !cell.dataset.items || !board.shown) return;
    from = { cell, x: event.clientX, y: event.clientY, ghost: null };
  });
  addEventListener(
    "pointermove",
    (event) => {
      if (!from) return;
      if (!from.ghost && Math.hypot(event.clientX - from.x, event.clientY - from.y) > FAR) begin(board, from);
      if (from?.ghost) moveTo(from.ghost, event);
    },
    { signal },
  );
  addEventListener(
    "pointerup",
    (event) => {
      if (from?.ghost) end(board, from, event);
      from = null;
    },
    { signal },
  );
  addEventListener(
    "pointercancel",
    () => {
      from?.ghost?.remove();
      from?.cell.classList.remove("dragging");
      from = null;
    },
    { signal },
  );
}

function begin(board, from) {
  const word = from.cell.dataset.click;
  const selected = board.clicks.includes(word);
  if (!selected && !from.cell.matches(".movable, .target, .other")) return;
  board.dragged = true;
  from.ghost = from.cell.cloneNode(true);
  from.ghost.className = "ghost cell";
  for (const name of ["role", "tabindex", "aria-label"]) from.ghost.removeAttribute(name);
  from.ghost.setAttribute("aria-hidden", "true");
  const { width, height } = from.cell.getBoundingClientRect();
  from.ghost.style.width = `${width}px`;
  from.ghost.style.height = `${height}px`;
  document.body.append(from.ghost);
  from.cell.classList.add("dragging");
  if (!selected) board.press(word);
}

function moveTo(ghost, event) {
  ghost.style.left = `${event.clientX - ghost.offsetWidth / 2}px`;
  ghost.style.top = `${event.clientY - ghost.offsetHeight / 2}px`;
}

function end(board, from, event) {
  from.ghost.remove();
  from.cell.classList.remove("dragging");
  const target = document.elementFromPoint(event.clientX, event.clientY)?.closest?.(".cell");
  if (target !== from.cell) board.drop(target && board.host.contains(target) ? target.dataset.click : null);
}
