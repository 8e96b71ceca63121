// Parts of a work over the same time: a bar from begin to end of each, what became of it beside it, and the same as a table.

import { axis, Drawing, options } from "./chart.js";
import { element } from "./dom.js";
import { colour } from "./looks.js";
import { number } from "./numbers.js";
import { spansTable } from "./table.js";

const GAP = 8;
const ENDS = { done: "--series-1", failed: "--series-2", stopped: "--series-4" };

// longest: how far the axis reaches, so that several can be compared
export function gantt({ title, spans }, longest) {
  const canvas = element("canvas");
  canvas.role = "img";
  canvas.ariaLabel = `Begin and end of ${spans.map(({ part }) => part).join(", ")}. The table below has the same figures.`;
  const box = element("div", { className: "canvas" }, canvas);
  box.style.height = `${spans.length * 36 + 56}px`;
  const figure = element("figure", { className: "small" }, element("figcaption", {}, title), box, spansTable(title, spans));

  const draw = () => {
    const drawing = new Drawing(
      canvas,
      {
        type: "bar",
        data: {
          labels: spans.map(({ part }) => part),
          datasets: [{ data: spans.map(({ from, to }) => [from, to]), label: title, maxBarThickness: 18 }],
        },
        options: options({
          indexAxis: "y",
          layout: { padding: { right: 64 } },
          scales: {
            x: axis("ms", { suggestedMax: longest }),
            y: axis("", { type: "category", grid: { display: false }, ticks: { autoSkip: false } }),
          },
          plugins: { tooltip: { callbacks: { label: ({ dataIndex }) => described(spans[dataIndex]) } } },
        }),
        plugins: [ends(spans)],
      },
      (datasets) => {
        datasets[0].backgroundColor = spans.map(({ end }) => colour(ENDS[end] ?? "--accent"));
      },
    );
    // a begin at 0 has no place on a logarithmic axis
    return { close: () => drawing.close(), logarithmic: () => {} };
  };
  return { figure, draw };
}

function described({ from, to, end }) {
  return `${number(from)} to ${number(to)} ms, ${end}`;
}

function ends(spans) {
  return {
    id: "ends",
    afterDatasetsDraw(chart) {
      const { ctx } = chart;
      ctx.save();
      ctx.fillStyle = colour("--ink");
      ctx.textBaseline = "middle";
      ctx.font = `12px ${getComputedStyle(document.body).fontFamily}`;
      chart.getDatasetMeta(0).data.forEach((bar, at) => ctx.fillText(spans[at].end, bar.x + GAP, bar.y));
      ctx.restore();
    },
  };
}
