// Lines over an axis, drawn while they grow. Told apart by dashes and markers too, and areas by hatches.

import { axis, Drawing, options } from "./chart.js";
import { copyOf, element } from "./dom.js";
import { areaSample, colour, filling, GAP, sample } from "./looks.js";
import { marksOf, marksPlugin, room, spreadsPlugin, STEPPED, told, toldSpread } from "./marks.js";
import { pointsTable } from "./table.js";

// The browser shares the cores with what is measured: four pictures a second are enough.
const REDRAW_MILLIS = 250;
const MARKERS = 6;

export class Lines {
  figure = copyOf("figure-template");
  #about;
  #looks;
  #lines = new Map();
  #drawing;
  #timer;

  // most: how far both axes have to reach at least
  constructor({ title, x, y, kind = "LINES", spreads = [], most = {} }, looks) {
    this.#about = { title, x, y, kind, spreads, most };
    this.#looks = looks;
    this.#find("figcaption").textContent = title;
    this.#find(".points").addEventListener("toggle", (event) => event.target.open && this.#fillTable());
    this.figure.style.setProperty("--below", `${room(spreads)}px`);
    this.#find(".spreads").append(...spreads.map((spread) => element("li", {}, toldSpread(spread, x))));
  }

  #find(selector) {
    return this.figure.querySelector(selector);
  }

  get #isStacked() {
    return this.#about.kind === "STACKED";
  }

  // After the figure is on the page: a chart takes its size from there.
  draw() {
    const { x, y, most, spreads } = this.#about;
    this.#drawing = new Drawing(
      this.#find("canvas"),
      {
        type: "line",
        data: { datasets: [] },
        options: options({
          parsing: false,
          normalized: true,
          layout: { padding: { bottom: room(spreads) } },
          interaction: { mode: "nearest", axis: "x", intersect: false },
          scales: {
            x: axis(x, { type: "linear", suggestedMax: most.x }),
            y: axis(y, { type: "linear", grace: "4%", suggestedMax: most.y, stacked: this.#isStacked }),
          },
        }),
        plugins: [markers, marksPlugin(this.#lines), spreadsPlugin(spreads, this.#looks)],
      },
      (datasets) => datasets.forEach((line, at) => this.#paint(line, at)),
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

  set title(title) {
    this.#about = { ...this.#about, title };
    this.#find("figcaption").textContent = title;
  }

  get points() {
    return [...this.#lines];
  }

  clear() {
    this.#lines.clear();
    this.#find(".legend").replaceChildren();
    this.#drawing.chart.data.datasets = [];
    this.#soon();
  }

  logarithmic(on) {
    if (this.#isStacked) {
      return; // there the height of an area would tell nothing
    }
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
    const { datasets } = this.#drawing.chart.data;
    this.#lines.set(name, points);
    // an area without a height would leave its line on the one below
    const none = this.#isStacked && points.every(({ y }) => y === 0);
    const line = {
      label: name,
      data: points,
      hidden: none,
      borderWidth: 2,
      borderDash: look.dash,
      pointStyle: look.marker,
      pointRadius: 0,
      stepped: name === STEPPED && "before",
    };
    datasets.push(line);
    this.#paint(line, datasets.length - 1);
    this.#find(".legend").append(
      element("li", {}, (this.#isStacked ? areaSample : sample)(look), none ? `${name} (none)` : name),
    );
    if (this.#about.kind === "GAP" && datasets.length === 2) {
      const open = points.some(({ y }, at) => datasets[0].data[at].y > y);
      const text = `${datasets[0].label}, but not ${name}${open ? "" : " (none)"}`;
      this.#find(".legend").append(element("li", {}, areaSample(GAP), text));
    }
  }

  #paint(line, at) {
    const look = this.#looks.of(line.label);
    line.borderColor = line.backgroundColor = colour(look.colour);
    if (this.#isStacked) {
      line.backgroundColor = filling(look);
      line.fill = at === 0 ? "origin" : "-1";
    } else if (this.#about.kind === "GAP" && at === 0) {
      line.fill = { target: 1, above: filling(GAP), below: "transparent" };
    }
  }

  #soon() {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#drawing.chart.update("none");
      const marks = marksOf(this.#lines).map((mark) => told(mark, this.#about.x));
      this.#find(".marks").replaceChildren(...marks.map((text) => element("li", {}, text)));
      this.#find("canvas").ariaLabel = this.#heard();
      if (this.#find(".points").open) {
        this.#fillTable();
      }
    }, REDRAW_MILLIS);
  }

  #heard() {
    const names = [...this.#lines.keys()].join(", ");
    return `${this.#isStacked ? "Stacked areas" : "Lines"}: ${this.#about.title}, ${names}. The table below has the same figures.`;
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
      const points = line.hidden ? [] : chart.getDatasetMeta(index).data;
      const step = Math.max(1, Math.floor(points.length / MARKERS));
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
