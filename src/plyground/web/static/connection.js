// The socket: sends requests, gives replies to whoever listens, and comes back after a break.

const FIRST_PAUSE = 300; // milliseconds before a new attempt; doubled after each failure
const LONGEST_PAUSE = 5000;
const LARGEST = 1_000_000; // characters of a request, as in requests.py
const MOST_REFUSALS = 50; // requests whose refusal is still listened for

/** A request that the server has refused; `reason` is one of those of the protocol. */
export class Refusal extends Error {
  /** @param {{text: string, reason: string}} message */
  constructor(message) {
    super(message.text);
    this.reason = message.reason;
  }
}

export class Connection {
  /** @param {(up: boolean, why?: string) => void} onChange called when the connection is lost or there again */
  constructor(onChange) {
    this.onChange = onChange;
    this.listeners = new Map(); // type → functions
    this.questions = new Map(); // request → {resolve, reject}
    this.refusals = new Map(); // request → function, of the newest requests
    this.requests = 0;
    this.pause = FIRST_PAUSE;
    this.#connect();
  }

  #connect() {
    const url = new URL("/socket", location.href);
    url.protocol = url.protocol.replace("http", "ws");
    this.socket = new WebSocket(url);
    this.socket.onopen = () => {
      this.pause = FIRST_PAUSE;
      this.onChange(true);
    };
    this.socket.onmessage = (event) => this.#received(JSON.parse(event.data));
    this.socket.onclose = ({ reason }) => {
      this.onChange(false, reason);
      this.#checkToken();
      for (const { reject } of this.questions.values()) {
        reject(new Refusal({ text: "The connection is lost.", reason: "lost" }));
      }
      this.questions.clear();
      this.refusals.clear();
      setTimeout(() => this.#connect(), this.pause);
      this.pause = Math.min(2 * this.pause, LONGEST_PAUSE);
    };
  }

  /** Whether the server still accepts our cookie: a socket does not tell why it was refused, the page does. */
  async #checkToken() {
    const answer = await fetch("/", { method: "HEAD" }).catch(() => null);
    if (answer?.status === 403) location.reload();
  }

  #received(message) {
    const question = message.request ? this.questions.get(message.request) : null;
    if (question) {
      this.questions.delete(message.request);
      if (message.type === "refused") question.reject(new Refusal(message));
      else question.resolve(message);
    }
    const refusal = message.type === "refused" ? this.refusals.get(message.request) : null;
    refusal?.(new Refusal(message));
    const handled = Boolean(question ?? refusal);
    for (const listener of this.listeners.get(message.type) ?? []) listener(message, handled);
  }

  /**
   * Call a function with each reply of a type; `handled` says that whoever asked has got it.
   * @param {string} type
   * @param {(message: any, handled: boolean) => void} listener
   * @returns {() => void} a function that ends it
   */
  on(type, listener) {
    const listeners = this.listeners.get(type) ?? new Set();
    this.listeners.set(type, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  /**
   * Send a request.
   * @param {string} type
   * @param {object} [fields]
   * @param {(refusal: Refusal) => void} [onRefused] otherwise the page shows the refusal
   * @returns {number} its number
   */
  send(type, fields = {}, onRefused = undefined) {
    this.requests += 1;
    if (onRefused) this.refusals.set(this.requests, onRefused);
    if (this.refusals.size > MOST_REFUSALS) this.refusals.delete(this.refusals.keys().next().value);
    const [request, message] = [this.requests, JSON.stringify({ type, request: this.requests, ...fields })];
    if (message.length > LARGEST) {
      const text = `This is too large: ${message.length.toLocaleString("en")} characters, at most ${LARGEST.toLocaleString("en")}.`;
      queueMicrotask(() => this.#received({ type: "refused", request, text, reason: "refused" }));
    } else if (this.socket.readyState === WebSocket.OPEN) {
      this.socket.send(message);
    }
    return request;
  }

  /**
   * Send a request and wait for its first answer.
   * @param {string} type
   * @param {object} [fields]
   * @returns {Promise<any>}
   */
  ask(type, fields = {}) {
    return new Promise((resolve, reject) => {
      if (this.socket.readyState !== WebSocket.OPEN) {
        reject(new Refusal({ text: "The server does not answer.", reason: "lost" }));
        return;
      }
      this.questions.set(this.send(type, fields), { resolve, reject });
    });
  }
}
