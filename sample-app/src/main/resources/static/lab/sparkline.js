// The last half minute of a figure, without axes: the figure itself stands beside it.

const SVG = "http://www.w3.org/2000/svg";
const KEPT = 60;
const [WIDTH, HEIGHT] = [100, 24];

export class Sparkline {
  svg = document.createElementNS(SVG, "svg");
  #line = document.createElementNS(SVG, "polyline");
  #values = [];

  constructor() {
    this.svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    this.svg.setAttribute("preserveAspectRatio", "none");
    this.svg.setAttribute("aria-hidden", "true");
    this.svg.classList.add("sparkline");
    this.svg.append(this.#line);
  }

  add(value) {
    this.#values = [...this.#values, value].slice(-KEPT);
    const most = Math.max(...this.#values);
    const least = Math.min(...this.#values);
    const height = (each) => (most === least ? HEIGHT / 2 : HEIGHT - 2 - ((each - least) / (most - least)) * (HEIGHT - 4));
    const offset = KEPT - this.#values.length;
    const points = this.#values.map((each, at) => `${((offset + at) * WIDTH) / (KEPT - 1)},${height(each).toFixed(1)}`);
    this.#line.setAttribute("points", points.join(" "));
  }
}
