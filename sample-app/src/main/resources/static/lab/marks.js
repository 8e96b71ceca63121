// What is drawn over and under the lines: where something changed, and when a crowd of calls has ended.

import { colour, filling } from "./looks.js";
import { number } from "./numbers.js";

// A line of this name goes in steps, of which each is marked.
export const STEPPED = "permits";
// Of several that follow at once, as of a slider that is moved, the last is marked.
const STEADY = 0.3;
const LABEL = 14;
const ROWS = 4;
const SPREAD = 16;

export function marksOf(lines) {
  const points = lines.get(STEPPED) ?? [];
  const marks = [];
  points.forEach((point, at) => {
    if (at > 0 && point.y !== points[at - 1].y) {
      if (marks.length > 0 && point.x - marks.at(-1).x < STEADY) {
        marks.pop();
      }
      marks.push({ x: point.x, text: `${number(point.y)} ${STEPPED}` });
    }
  });
  return marks;
}

export function told({ x, text }, unit) {
  return `At ${number(x)} ${unit}: ${text}`;
}

export function toldSpread({ line, first, median, last }, unit) {
  return `${line} after ${number(first)} to ${number(last)} ${unit}, half within ${number(median)}`;
}

export function room(spreads) {
  return spreads.length * SPREAD;
}

// Upright lines with labels; one that would hide another stands below it.
export function marksPlugin(lines) {
  return {
    id: "marks",
    afterDatasetsDraw({ ctx, chartArea, scales }) {
      const ends = Array(ROWS).fill(-Infinity);
      ctx.save();
      ctx.font = `600 12px ${getComputedStyle(document.body).fontFamily}`;
      ctx.textBaseline = "top";
      ctx.strokeStyle = colour("--ink");
      ctx.setLineDash([2, 3]);
      marksOf(lines).forEach(({ x, text }) => {
        const at = scales.x.getPixelForValue(x);
        const width = ctx.measureText(text).width + 8;
        const left = Math.min(at + 3, chartArea.right - width);
        const row = Math.max(0, ends.findIndex((end) => end <= left));
        ends[row] = left + width;
        ctx.beginPath();
        ctx.moveTo(at, chartArea.top);
        ctx.lineTo(at, chartArea.bottom);
        ctx.stroke();
        ctx.fillStyle = colour("--surface");
        ctx.fillRect(left, chartArea.top + row * LABEL, width, LABEL);
        ctx.fillStyle = colour("--ink");
        ctx.fillText(text, left + 4, chartArea.top + row * LABEL + 1);
      });
      ctx.restore();
    },
  };
}

// A bar from the first to the last below the axis, and a line across it where half of them are over.
export function spreadsPlugin(spreads, looks) {
  return {
    id: "spreads",
    afterDraw({ ctx, height, scales }) {
      ctx.save();
      spreads.forEach(({ line, first, median, last }, at) => {
        const top = height - room(spreads) + at * SPREAD + 4;
        const [from, middle, to] = [first, median, last].map((value) => scales.x.getPixelForValue(value));
        const look = looks.of(line);
        ctx.fillStyle = filling(look);
        ctx.strokeStyle = colour(look.colour);
        ctx.fillRect(from, top, to - from, SPREAD - 8);
        ctx.strokeRect(from, top, to - from, SPREAD - 8);
        ctx.strokeStyle = colour("--ink");
        ctx.lineWidth = 2;
        ctx.beginPath();
        ctx.moveTo(middle, top - 3);
        ctx.lineTo(middle, top + SPREAD - 5);
        ctx.stroke();
        ctx.lineWidth = 1;
      });
      ctx.restore();
    },
  };
}
