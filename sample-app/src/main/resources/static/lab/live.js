// The panel of what the limits and the JVM do now.

import { element } from "./dom.js";
import { number } from "./numbers.js";
import { Sparkline } from "./sparkline.js";

const FIGURES = [
  ["platformThreads", "Platform threads", ""],
  ["carriers", "of these, carriers", ""],
  ["heapMegabytes", "Heap", "MB"],
  ["collections", "Collections", ""],
];

export function openLivePanel(panel) {
  const state = panel.querySelector(".live-state");
  const limits = panel.querySelector(".limits");
  const shown = new Map();
  const figures = FIGURES.map(([key, label, unit]) => [key, new Figure(panel.querySelector(".jvm"), label, unit)]);
  let source;

  const show = (live) => {
    state.hidden = true;
    live.limits.forEach((limit) => {
      if (!shown.has(limit.name)) {
        shown.set(limit.name, new Limit(limits, limit.name));
      }
      shown.get(limit.name).show(limit);
    });
    figures.forEach(([key, figure]) => figure.show(live[key]));
    document.dispatchEvent(new CustomEvent("live", { detail: live }));
  };
  const open = () => {
    source = new EventSource("lab/live");
    source.addEventListener("live", (event) => show(JSON.parse(event.data)));
    source.addEventListener("error", () => {
      state.hidden = false;
      state.className = "live-state lost";
      state.textContent = "No connection to the server: these are its last figures";
    });
  };
  // a browser opens few connections to one server: a tab that nobody sees keeps none
  document.addEventListener("visibilitychange", () => (document.hidden ? source.close() : open()));
  open();
}

class Limit {
  #bar = element("span", { className: "fill" });
  #text = element("span", { className: "in-use" });
  #waiting = element("span", { className: "waiting" });

  constructor(list, name) {
    const bar = element("span", { className: "bar" }, this.#bar);
    bar.setAttribute("aria-hidden", "true");
    list.append(
      element(
        "li",
        {},
        element("span", { className: "limit-name" }, name),
        this.#text,
        bar,
        this.#waiting,
      ),
    );
  }

  show({ permits, inUse, waiting, oldestWaitingMillis }) {
    this.#bar.style.width = `${Math.min(100, (inUse / permits) * 100)}%`;
    this.#bar.classList.toggle("full", inUse >= permits);
    this.#text.textContent = `${number(inUse)} of ${number(permits)} in use`;
    this.#waiting.textContent =
      waiting === 0 ? "nobody waits" : `${number(waiting)} waiting, oldest ${number(oldestWaitingMillis / 1000)} s`;
  }
}

class Figure {
  #value = element("span", { className: "value" });
  #line = new Sparkline();
  #unit;

  constructor(list, label, unit) {
    this.#unit = unit;
    list.append(element("div", {}, element("dt", {}, label), element("dd", {}, this.#line.svg, this.#value)));
  }

  show(value) {
    this.#line.add(value);
    this.#value.textContent = this.#unit ? `${number(value)} ${this.#unit}` : number(value);
  }
}
