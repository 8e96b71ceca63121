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
    };
  }
}

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

function path(shape, dash) {
  const made = document.createElementNS(SVG, "path");
  made.setAttribute("d", shape);
  made.setAttribute("stroke-dasharray", dash.join(" "));
  return made;
}
