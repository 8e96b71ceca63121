// A result as text to paste, with the figures of its table.

import { labelled, number } from "./numbers.js";

export function asMarkdown({ title }, { answer, settings }) {
  const { sentence, columns, rows, facts, notes } = answer;
  const chosen = Object.entries(settings).map(([name, value]) => `${name} ${number(value)}`);
  const parts = [`## ${title}`, chosen.sort().join(", "), `**${sentence}**`];
  if (rows.length > 0) {
    const heads = ["", ...columns.map(labelled)];
    parts.push(table(heads, rows.map(({ name, figures }) => [name, ...columns.map(({ key }) => figure(figures[key]))])));
  }
  facts.rows.forEach(([name, ...cells]) => {
    cells.forEach((cell, at) => parts.push(`${name}, ${facts.columns[at + 1]}:`, `\`\`\`text\n${cell}\n\`\`\``));
  });
  if (notes.length > 0) {
    parts.push(notes.map((note) => `- ${note}`).join("\n"));
  }
  return `${parts.join("\n\n")}\n`;
}

function table(heads, rows) {
  return [heads, heads.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function figure(measured) {
  if (!measured) {
    return "";
  }
  const [median, min, max] = [measured.median, measured.min, measured.max].map(number);
  return min === max ? median : `${median} (${min} to ${max})`;
}
