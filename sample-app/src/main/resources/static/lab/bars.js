// The first figure of each contender: a bar for the median, a thin line from the lowest to the highest, the value beside it.

import { axis, Drawing, options } from "./chart.js";
import { element } from "./dom.js";
import { colour } from "./looks.js";
import { labelled, number, withUnit } from "./numbers.js";

const CAP = 5;
const GAP = 8;
const ROW = 50;
const LINE = 15;
// Letters in a line of a name; lab.css makes the rows higher below the same width.
const [NARROW, WIDE] = [13, 24];
const NARROW_PIXELS = 480;

export function bars(rows, column, looks, rounds) {
  const measured = rows.filter((row) => row.figures[column.key]);
  const figures = measured.map((row) => row.figures[column.key]);
  const title = labelled(column);
  const canvas = element("canvas");
  canvas.role = "img";
  canvas.ariaLabel = `Bars: ${title} of ${measured.map((row) => row.name).join(", ")}. The table below has the same figures.`;
  const box = element("div", { className: "canvas bars" }, canvas);
  const most = Math.max(...measured.map(({ name }) => linesOf(name, NARROW).length));
  box.style.setProperty("--rows", measured.length);
  box.style.setProperty("--narrow-row", `${Math.max(ROW, most * LINE + GAP)}px`);
  const figure = element("figure", {}, element("figcaption", {}, caption(title, rounds)), box);

  const draw = () => {
    const room = Math.max(...figures.map((each) => width(withUnit(each.median, column.unit)))) + 2 * GAP;
    const drawing = new Drawing(
      canvas,
      {
        type: "bar",
        data: {
          labels: measured.map((row) => row.name),
          datasets: [{ data: figures.map((each) => each.median), label: title, maxBarThickness: 24 }],
        },
        options: options({
          indexAxis: "y",
          layout: { padding: { right: room } },
          scales: {
            x: axis(title, { suggestedMax: Math.max(...figures.map((each) => each.max)) }),
            y: axis("", { type: "category", grid: { display: false }, ticks: { autoSkip: false, callback: wrapped } }),
          },
          plugins: { tooltip: { callbacks: { label: ({ dataIndex }) => described(figures[dataIndex], column.unit) } } },
        }),
        plugins: [ranges(figures, column.unit)],
      },
      (datasets) => {
        datasets[0].backgroundColor = measured.map(({ name }) => colour(looks.has(name) ? looks.of(name).colour : "--accent"));
      },
    );
    return { close: () => drawing.close(), logarithmic: (on) => drawing.scale("x", title, on, decadeBelow(figures)) };
  };
  return { figure, draw };
}

// rounds is undefined where an experiment has none
function caption(title, rounds) {
  if (rounds === undefined) {
    return capital(title);
  }
  return rounds > 1
    ? `${capital(title)}: the bar is the median of ${rounds} rounds, the thin line goes from the lowest to the highest`
    : `${capital(title)}: one round, so there is no range`;
}

function font() {
  return `600 12px ${getComputedStyle(document.body).fontFamily}`;
}

function width(text) {
  const context = document.createElement("canvas").getContext("2d");
  context.font = font();
  return context.measureText(text).width;
}

// A logarithmic axis has no 0 to begin at; with less than a decade the bars would differ by their beginning.
function decadeBelow(figures) {
  const positive = figures.flatMap(({ min, max }) => [min, max]).filter((each) => each > 0);
  const [lowest, highest] = [Math.min(...positive), Math.max(...positive)].map((each) => Math.floor(Math.log10(each)));
  return positive.length === 0 ? undefined : 10 ** (lowest === highest ? lowest - 1 : lowest);
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function described({ median, min, max }, unit) {
  return `${withUnit(median, unit)} (${number(min)} to ${number(max)})`;
}

// A long name takes several lines, so that the bars keep their room.
function wrapped(at) {
  return linesOf(this.getLabelForValue(at), this.chart.width < NARROW_PIXELS ? NARROW : WIDE);
}

function linesOf(name, longest) {
  return name.split(" ").reduce((lines, word) => {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < longest) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else {
      lines.push(word);
    }
    return lines;
  }, []);
}

function ranges(figures, unit) {
  return {
    id: "ranges",
    afterDatasetsDraw(chart) {
      const { ctx, scales, chartArea } = chart;
      ctx.save();
      const [ink, halo] = [colour("--ink"), colour("--surface")];
      ctx.fillStyle = ink;
      ctx.textBaseline = "middle";
      ctx.font = font();
      chart.getDatasetMeta(0).data.forEach((bar, index) => {
        const { median, min, max } = figures[index];
        const at = (value) => {
          const pixel = scales.x.getPixelForValue(value);
          return Number.isFinite(pixel) ? Math.max(pixel, chartArea.left) : chartArea.left;
        };
        if (max > min) {
          ctx.beginPath();
          ctx.moveTo(at(min), bar.y);
          ctx.lineTo(at(max), bar.y);
          [min, max].forEach((end) => {
            ctx.moveTo(at(end), bar.y - CAP);
            ctx.lineTo(at(end), bar.y + CAP);
          });
          // the line has to stand out from the bar as well as from the ground
          for (const [style, width] of [[halo, 4], [ink, 1.5]]) {
            ctx.strokeStyle = style;
            ctx.lineWidth = width;
            ctx.stroke();
          }
        }
        ctx.fillText(withUnit(median, unit), at(Math.max(max, median)) + GAP, bar.y);
      });
      ctx.restore();
    },
  };
}
