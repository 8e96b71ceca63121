// Chart.js as the lab wants it: without animation, in the colours of the page, also when those change.

import { colour } from "./looks.js";
import { number } from "./numbers.js";

const shown = new Set();

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => shown.forEach((chart) => chart.repaint()));

export class Drawing {
  #paint;

  // paint gives the datasets their colours
  constructor(canvas, config, paint) {
    this.#paint = paint;
    this.chart = new Chart(canvas, config);
    this.chart.options.font.family = getComputedStyle(document.body).fontFamily;
    shown.add(this);
    this.repaint();
  }

  repaint() {
    const { chart } = this;
    for (const scale of Object.values(chart.options.scales)) {
      scale.grid.color = colour("--rule");
      scale.border.color = colour("--axis");
      scale.ticks.color = colour("--muted");
      scale.title.color = colour("--muted");
    }
    this.#paint(chart.data.datasets);
    chart.update("none");
  }

  // An axis says itself when it is logarithmic.
  scale(axis, title, logarithmic, min) {
    const scale = this.chart.options.scales[axis];
    scale.min = logarithmic ? min : undefined;
    scale.type = logarithmic ? "logarithmic" : "linear";
    scale.title.text = logarithmic ? `${title}, logarithmic` : title;
    this.repaint();
  }

  close() {
    shown.delete(this);
    this.chart.destroy();
  }
}

export function options(more) {
  return {
    animation: false,
    responsive: true,
    maintainAspectRatio: false,
    ...more,
    plugins: { legend: { display: false }, ...more.plugins },
  };
}

const ROOM = 8;

// Of a long logarithmic axis only 1, 2, 5, 10, 20, 50 have room for their figures.
function tick(value, at, ticks) {
  const leading = Number(value.toExponential(6).split("e")[0]);
  return this.type === "logarithmic" && ticks.length > ROOM && ![1, 2, 5].includes(leading) ? "" : number(value);
}

export function axis(title, more = {}) {
  return {
    beginAtZero: true,
    title: { display: title !== "", text: title, font: { size: 12 } },
    ...more,
    grid: { ...more.grid },
    border: {},
    ticks: { maxRotation: 0, font: { size: 12 }, ...(more.type === "category" ? {} : { callback: tick }), ...more.ticks },
  };
}
