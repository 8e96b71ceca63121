// Resizes a limit while it is watched: by the mouse, or by the arrow keys.

import * as server from "./server.js";

const LEAST_RANGE = 50;
const OWN_MILLIS = 1000;

export class Slider {
  #limit;
  #input;
  #output;
  #problem;
  #moved = 0;
  #wanted;
  #sending = false;

  constructor(root, id, limit) {
    this.#limit = limit;
    this.#input = root.querySelector("input");
    this.#output = root.querySelector("output");
    this.#problem = root.querySelector(".refusal");
    this.#input.id = `${id}-resize`;
    root.querySelector("label").htmlFor = this.#input.id;
    root.querySelector("label code").textContent = limit;
    this.#input.addEventListener("input", () => this.#move());
    document.addEventListener("live", ({ detail }) => this.#follow(detail.limits.find((each) => each.name === limit)));
  }

  set enabled(on) {
    this.#input.disabled = !on;
  }

  get hasFocus() {
    return document.activeElement === this.#input;
  }

  // Others resize it too: the experiment does. What is told may be older than what was answered last.
  #follow(limit) {
    if (limit && !this.#sending && performance.now() - this.#moved > OWN_MILLIS) {
      this.#input.max = Math.max(LEAST_RANGE, this.#input.max, 2 * limit.permits);
      this.#input.value = limit.permits;
      this.#output.textContent = `${limit.permits} permits`;
    }
  }

  #move() {
    this.#moved = performance.now();
    this.#wanted = Number(this.#input.value);
    this.#output.textContent = `${this.#wanted} permits`;
    if (!this.#sending) {
      this.#send();
    }
  }

  // One request at a time, so that the last one to arrive is the last one wanted.
  async #send() {
    this.#sending = true;
    try {
      while (this.#wanted !== undefined) {
        const permits = this.#wanted;
        this.#wanted = undefined;
        await server.resize(this.#limit, permits);
        this.#moved = performance.now();
        this.#problem.textContent = "";
      }
    } catch (refused) {
      this.#problem.textContent = refused.message;
    }
    this.#sending = false;
  }
}
