// The same figures as in the charts, to be read and heard.

import { element } from "./dom.js";
import { labelled, number } from "./numbers.js";

const TIMES = 12;

export function resultTable(rows, columns, rounds) {
  const several = `Medians of ${rounds} rounds, with the lowest and the highest where they differ`;
  const caption = rounds === undefined ? "What was measured" : rounds > 1 ? several : "What was measured, in one round";
  const cells = (row) => columns.map((column) => figure(row.figures[column.key], rounds));
  return table(
    caption,
    ["Contender", ...columns.map(labelled)],
    rows.map((row) => [row.name, ...cells(row)]),
  );
}

function figure(measured, rounds) {
  if (!measured) {
    return "–";
  }
  const { median, min, max } = measured;
  const range = `${number(min)} to ${number(max)}`;
  return rounds > 1 && number(min) !== number(max)
    ? element("span", {}, number(median), element("span", { className: "range" }, ` ${range}`))
    : number(median);
}

// What was found in words, such as lines of a log.
export function factsTable({ columns, rows }) {
  return table("What was found, in words", columns, rows);
}

export function spansTable(title, spans) {
  return table(
    title,
    ["part", "from, ms", "to, ms", "end"],
    spans.map(({ part, from, to, end }) => [part, number(from), number(to), end]),
  );
}

// Lines have different and many points: shown is what each has reached at some places of the axis.
export function pointsTable({ title, x, y }, lines) {
  const places = placesOf([...lines.values()].flat().map((point) => point.x));
  return table(
    `${title}: ${y}, by ${x}. Each figure is that of the last point up to there.`,
    [x, ...lines.keys()],
    places.map((place) => [number(place), ...[...lines.values()].map((points) => number(reached(points, place)))]),
  );
}

function placesOf(all) {
  const distinct = [...new Set(all)].sort((one, other) => one - other);
  return distinct.length <= TIMES ? distinct : evenly(distinct[0], distinct.at(-1));
}

function evenly(first, last) {
  // so that the last is the last point, not something next to it
  return Array.from({ length: TIMES }, (_, at) => (at + 1) / TIMES).map((part) => first * (1 - part) + last * part);
}

function reached(points, place) {
  return points.filter((point) => point.x <= place).at(-1)?.y;
}

function table(caption, head, rows) {
  // the roles are those of the elements, for a table that is laid out as something else where it is narrow
  const heads = head.map((text) => element("th", { scope: "col", role: "columnheader" }, text));
  const lines = rows.map(([name, ...cells]) =>
    element(
      "tr",
      { role: "row" },
      element("th", { scope: "row", role: "rowheader" }, name),
      ...cells.map((cell, at) => {
        const made = element("td", { role: "cell" }, cell);
        made.dataset.head = head[at + 1];
        return made;
      }),
    ),
  );
  const made = element(
    "table",
    { role: "table" },
    element("caption", {}, caption),
    element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, ...heads)),
    element("tbody", { role: "rowgroup" }, ...lines),
  );
  const scroll = element("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: caption }, made);
  const hint = element("p", { className: "more hint", ariaHidden: "true" }, "Scroll sideways to see all columns →");
  const box = element("div", { className: "wide" }, hint, scroll);
  const sizes = new ResizeObserver(() => box.classList.toggle("cut", scroll.scrollWidth > scroll.clientWidth));
  sizes.observe(scroll);
  sizes.observe(made);
  return box;
}
