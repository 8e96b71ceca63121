// What a run draws while it goes on, and what it has found.

import { bars } from "./bars.js";
import { copy } from "./copy.js";
import { element } from "./dom.js";
import { gantt } from "./gantt.js";
import { Lines } from "./lines.js";
import { Looks } from "./looks.js";
import { asMarkdown } from "./markdown.js";
import { factsTable, resultTable } from "./table.js";

export class Result {
  #about;
  #root;
  #live;
  #charts = [];
  #shown;

  constructor(about, root) {
    this.#about = about;
    this.#root = root;
    this.#find(".logarithmic").addEventListener("change", () => this.#rescale());
    this.#find(".copy-result").addEventListener("click", () => {
      copy(asMarkdown(about, this.#shown), (told) => (this.#find(".copied").textContent = told));
    });
    this.#find(".copy-result").ariaLabel = `Copy the result of ${about.title}`;
  }

  #find(selector) {
    return this.#root.querySelector(selector);
  }

  // Empty again, for a run that begins.
  open() {
    this.#charts.forEach((chart) => chart.close());
    this.#charts = [];
    this.#root.hidden = false;
    this.#root.classList.remove("answered");
    for (const part of [".sentence", ".guessed", ".of", ".figures", ".table", ".facts", ".notes"]) {
      this.#find(part).replaceChildren();
    }
    this.looks = new Looks();
    const chart = { title: `While it runs: ${this.#about.watched}`, x: "seconds", y: this.#about.watched };
    this.#live = this.#add(new Lines(chart, this.looks));
    this.#live.figure.hidden = true;
  }

  // For a browser that lost the connection and is told everything again.
  clear() {
    this.#live.clear();
  }

  begin(line) {
    this.#live.begin(line);
  }

  // All that was drawn while it ran: [[line, points], ...]
  get lines() {
    return this.#live.points;
  }

  point(line, x, y) {
    this.#live.figure.hidden = false;
    this.#live.point(line, x, y);
  }

  // Returns what is told of the guess.
  show({ answer, settings, guess }) {
    const { sentence, columns, rows, charts, notes, facts, gantts } = answer;
    const rounds = settings.rounds;
    const told = verdict(guess, answer);
    this.#shown = { answer, settings };
    this.#root.classList.add("answered");
    this.#find(".sentence").textContent = sentence;
    this.#find(".guessed").textContent = told;
    if (columns.length > 0 && rows.some((row) => row.figures[columns[0].key])) {
      const { figure, draw } = bars(rows, columns[0], this.looks, rounds);
      this.#find(".figures").prepend(figure);
      this.#charts.push(draw());
    }
    if (rows.length > 0) {
      this.#find(".table").replaceChildren(resultTable(rows, columns, rounds));
    }
    if (facts.rows.length > 0) {
      this.#find(".facts").replaceChildren(factsTable(facts));
    }
    this.#endLive(charts);
    charts.forEach((chart) => this.#showChart(chart, charts));
    const longest = Math.max(...gantts.flatMap(({ spans }) => spans.map(({ to }) => to)));
    gantts.forEach((each) => {
      const { figure, draw } = gantt(each, longest);
      this.#find(".figures").append(figure);
      this.#charts.push(draw());
    });
    this.#find(".notes").replaceChildren(...notes.map((note) => element("li", {}, note)));
    this.#find(".scale").hidden = this.#root.querySelector("figure:not([hidden])") === null;
    this.#rescale();
    return told;
  }

  // The last contender's lines say no more than charts of all contenders do: nothing stands twice.
  #endLive(charts) {
    const names = charts.flatMap(({ lines }) => lines.map(({ name }) => name));
    const live = this.#live.points.map(([name]) => name);
    if (live.length > 0 && live.every((name) => names.includes(name))) {
      this.#live.figure.hidden = true;
    }
    this.#live.title = `The last round: ${this.#about.watched}`;
  }

  date(at) {
    const date = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" }).format(at);
    this.#find(".of").textContent = `Result of an earlier run, ${date}`;
  }

  // Charts of the same axes are drawn small, beside each other and on the same scales, so that they can be compared.
  #showChart({ lines, ...about }, charts) {
    const { title, x, y } = about;
    const alike = charts.filter((each) => each.x === x && each.y === y);
    const chart = new Lines({ ...about, most: most(alike) }, this.looks);
    if (alike.length > 1) {
      chart.figure.classList.add("small");
      if (alike[0].title === title) {
        this.#find(".figures").append(element("p", { className: "alike hint" }, "These charts have the same scales."));
      }
    }
    this.#add(chart);
    lines.forEach(({ name, points }) => chart.add(name, points));
  }

  #add(lines) {
    this.#find(".figures").append(lines.figure);
    this.#charts.push(lines.draw());
    return lines;
  }

  #rescale() {
    const on = this.#find(".logarithmic").checked;
    this.#charts.forEach((chart) => chart.logarithmic(on));
  }
}

// right is empty where what was measured confirms no guess; open says why, as far as that is known.
function verdict(guess, { right, open }) {
  if (!guess) {
    return "";
  }
  if (!right) {
    return `You guessed: ${guess}. These figures do not decide it.${open ? ` ${open}` : ""}`;
  }
  return guess === right ? `Your guess was right: ${guess}.` : `Your guess was wrong: ${guess}. Measured: ${right}.`;
}

function most(charts) {
  const points = charts.flatMap(({ kind, lines }) => (kind === "STACKED" ? sums(lines) : lines.flatMap((line) => line.points)));
  return points.reduce((most, [x, y]) => ({ x: Math.max(most.x, x), y: Math.max(most.y, y) }), { x: 0, y: 0 });
}

// Stacked lines have their points at the same places.
function sums([first, ...others]) {
  return first.points.map(([x, y], at) => [x, others.reduce((sum, { points }) => sum + points[at][1], y)]);
}
