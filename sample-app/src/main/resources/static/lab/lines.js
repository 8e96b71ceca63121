// Lines over an axis, drawn while they grow. Told apart by dashes and markers too.

import { axis, Drawing, options } from "./chart.js";
import { copyOf, element } from "./dom.js";
import { colour, sample } from "./looks.js";
import { pointsTable } from "./table.js";

// The browser shares the cores with what is measured: four pictures a second are enough.
const REDRAW_MILLIS = 250;
const MARKS = 6;

export class Lines {
  figure = copyOf("figure-template");
  #about;
  #looks;
  #lines = new Map();
  #drawing;
  #timer;

  // most: how far both axes have to reach at least
  constructor({ title, x, y, most = {} }, looks) {
    this.#about = { title, x, y, most };
    this.#looks = looks;
    this.#find("figcaption").textContent = title;
    this.#find(".points").addEventListener("toggle", (event) => event.target.open && this.#fillTable());
  }

  #find(selector) {
    return this.figure.querySelector(selector);
  }

  // After the figure is on the page: a chart takes its size from there.
  draw() {
    const { x, y, most } = this.#about;
    this.#drawing = new Drawing(
      this.#find("canvas"),
      {
        type: "line",
        data: { datasets: [] },
        options: options({
          parsing: false,
          normalized: true,
          interaction: { mode: "nearest", axis: "x", intersect: false },
          scales: {
            x: axis(x, { type: "linear", suggestedMax: most.x }),
            y: axis(y, { type: "linear", grace: "4%", suggestedMax: most.y }),
          },
        }),
        plugins: [markers],
      },
      (datasets) =>
        datasets.forEach((line) => {
          line.borderColor = line.backgroundColor = colour(this.#looks.of(line.label).colour);
        }),
    );
    return this;
  }

  begin(name) {
    if (this.#lines.has(name)) {
      this.#lines.get(name).length = 0;
      this.#soon();
    }
  }

  point(name, x, y) {
    if (!this.#lines.has(name)) {
      this.#add(name, []);
    }
    this.#lines.get(name).push({ x, y });
    this.#soon();
  }

  add(name, points) {
    this.#add(
      name,
      points.map(([x, y]) => ({ x, y })),
    );
    this.#soon();
  }

  clear() {
    this.#lines.clear();
    this.#find(".legend").replaceChildren();
    this.#drawing.chart.data.datasets = [];
    this.#soon();
  }

  logarithmic(on) {
    // 0 has no place on such an axis, and is drawn at its end
    const zero = on && [...this.#lines.values()].flat().some((point) => point.y <= 0);
    this.#drawing.scale("y", zero ? `${this.#about.y}, 0 at the bottom` : this.#about.y, on);
  }

  close() {
    clearTimeout(this.#timer);
    this.#drawing.close();
  }

  #add(name, points) {
    const look = this.#looks.of(name);
    this.#lines.set(name, points);
    this.#drawing.chart.data.datasets.push({
      label: name,
      data: points,
      borderWidth: 2,
      borderDash: look.dash,
      borderColor: colour(look.colour),
      backgroundColor: colour(look.colour),
      pointStyle: look.marker,
      pointRadius: 0,
    });
    this.#find(".legend").append(element("li", {}, sample(look), name));
  }

  #soon() {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#drawing.chart.update("none");
      this.#find("canvas").ariaLabel =
        `Lines: ${this.#about.title}, ${[...this.#lines.keys()].join(", ")}. The table below has the same figures.`;
      if (this.#find(".points").open) {
        this.#fillTable();
      }
    }, REDRAW_MILLIS);
  }

  #fillTable() {
    this.#find(".points-table").replaceChildren(pointsTable(this.#about, this.#lines));
  }
}

// A marker on some points of each line, and on its last.
const markers = {
  id: "markers",
  afterDatasetsDraw(chart) {
    chart.data.datasets.forEach((line, index) => {
      const points = chart.getDatasetMeta(index).data;
      const step = Math.max(1, Math.floor(points.length / MARKS));
      const look = { pointStyle: line.pointStyle, radius: 4, borderWidth: 2 };
      chart.ctx.save();
      chart.ctx.strokeStyle = chart.ctx.fillStyle = line.borderColor;
      points.forEach((point, at) => {
        if ((points.length - 1 - at) % step === 0 && Number.isFinite(point.y)) {
          Chart.helpers.drawPoint(chart.ctx, look, point.x, point.y);
        }
      });
      chart.ctx.restore();
    });
  },
};
