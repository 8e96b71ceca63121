// Runs all experiments in small settings, one after the other, each in view.

import { announce } from "./announce.js";
import { roughly } from "./numbers.js";

const READING_MILLIS = 1500;
const FAREWELL_MILLIS = 5000;

export function offerTour(cards, button, bar) {
  const text = bar.querySelector(".tour-text");
  const stop = bar.querySelector(".tour-stop");
  let current;
  let stopped;

  const tour = async () => {
    stopped = false;
    const begin = performance.now();
    for (const [at, card] of cards.entries()) {
      const { number } = card;
      const left = roughly(seconds(cards.slice(at)));
      text.textContent = `Tour, ${at + 1} of ${cards.length}: ${card.about.title}, about ${left} left`;
      current = card;
      card.root.scrollIntoView({ block: "start" });
      const answered = await card.runSmall();
      if (answered) {
        await new Promise((resolve) => setTimeout(resolve, READING_MILLIS));
      }
      if (stopped || !answered) {
        return stopped ? "The tour is stopped" : `The tour has ended at experiment ${number}, which has no answer`;
      }
    }
    return `The tour is over, it took ${Math.round((performance.now() - begin) / 1000)} s`;
  };

  document.getElementById("tour-time").textContent = `, in about ${roughly(seconds(cards))}`;
  button.disabled = cards.length === 0;
  button.addEventListener("click", async () => {
    button.disabled = true;
    bar.hidden = false;
    stop.hidden = false;
    stop.focus({ preventScroll: true });
    const end = await tour();
    text.textContent = end;
    announce(end);
    button.disabled = false;
    if (document.activeElement === stop) {
      button.focus({ preventScroll: true });
    }
    stop.hidden = true;
    setTimeout(() => (bar.hidden = !button.disabled), FAREWELL_MILLIS);
  });
  stop.addEventListener("click", () => {
    stopped = true;
    current.cancel();
  });
}

function seconds(cards) {
  return cards.reduce((sum, card) => sum + card.about.smallSeconds + READING_MILLIS / 1000, 0);
}
