// How contenders look: each has a colour, a dash pattern and a marker, the same in all charts of its card.

const DASHES = [[], [8, 4], [2, 3], [12, 4, 2, 4], [5, 5], [14, 4], [2, 6], [8, 3, 2, 3, 2, 3]];
const MARKERS = ["circle", "rect", "triangle", "rectRot", "crossRot"];
const SHAPES = {
  circle: "M14 2a4 4 0 1 0 .01 0z",
  rect: "M10.5 2.5h7v7h-7z",
  triangle: "M14 1.5l4.5 8h-9z",
  rectRot: "M14 1l5 5-5 5-5-5z",
  crossRot: "M10.5 2.5l7 7m0-7l-7 7",
};
// What an area is filled with, besides its colour.
const HATCHES = ["", "M-2 2l4-4M0 8l8-8M6 10l4-4", "M0 0l8 8M0 8l8-8", "M0 4h8", "M4 0v8"];
const TILE = 8;
export const COLOURS = 8;

const SVG = "http://www.w3.org/2000/svg";

export class Looks {
  #names = [];

  has(name) {
    return this.#names.includes(name);
  }

  of(name) {
    if (!this.has(name)) {
      this.#names.push(name);
    }
    const index = this.#names.indexOf(name);
    return {
      colour: `--series-${(index % COLOURS) + 1}`,
      dash: DASHES[index % DASHES.length],
      marker: MARKERS[index % MARKERS.length],
      hatch: HATCHES[index % HATCHES.length],
    };
  }
}

// Between a line and another one that it should not exceed.
export const GAP = { colour: "--bad", hatch: HATCHES[1] };

// The value of a colour of the style sheet, in light or dark as it is now.
export function colour(property) {
  return getComputedStyle(document.documentElement).getPropertyValue(property).trim();
}

export function sample({ colour: property, dash, marker }) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 28 12");
  svg.setAttribute("aria-hidden", "true");
  svg.classList.add("sample", property.slice(2));
  svg.append(path("M0 6h28", dash), path(SHAPES[marker], []));
  svg.lastChild.classList.add("marker");
  return svg;
}

export function areaSample({ colour: property, hatch }) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 12");
  svg.setAttribute("aria-hidden", "true");
  svg.classList.add("sample", "area", property.slice(2));
  svg.append(path("M0 0h24v12h-24z", []));
  for (let x = 0; x < 24; x += TILE) {
    for (let y = 0; y < 12; y += TILE) {
      svg.append(path(hatch, []));
      svg.lastChild.setAttribute("transform", `translate(${x} ${y})`);
    }
  }
  return svg;
}

// The same for a canvas: a tint with the hatch upon it.
export function filling({ colour: property, hatch }) {
  const ratio = Math.ceil(devicePixelRatio);
  const tile = new OffscreenCanvas(TILE * ratio, TILE * ratio);
  const context = tile.getContext("2d");
  context.scale(ratio, ratio);
  context.fillStyle = context.strokeStyle = colour(property);
  context.globalAlpha = 0.25;
  context.fillRect(0, 0, TILE, TILE);
  context.globalAlpha = 0.7;
  context.stroke(new Path2D(hatch));
  const pattern = context.createPattern(tile, "repeat");
  pattern.setTransform(new DOMMatrix().scale(1 / ratio));
  return pattern;
}

function path(shape, dash) {
  const made = document.createElementNS(SVG, "path");
  made.setAttribute("d", shape);
  made.setAttribute("stroke-dasharray", dash.join(" "));
  return made;
}
