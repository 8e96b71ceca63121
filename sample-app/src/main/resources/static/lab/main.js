import { openCalculator } from "./calculator.js";
import { Card } from "./card.js";
import { openLivePanel } from "./live.js";
import * as server from "./server.js";
import { offerTour } from "./tour.js";

openCalculator(document.querySelector(".calculator"));
openLivePanel(document.getElementById("live"));

try {
  // running is one that was started before this page was opened, or in another tab; asked for before there is a card
  // to start one with, which would be followed twice
  const [abouts, running] = await Promise.all([server.experiments(), server.running()]);
  const cards = abouts.map((about, at) => new Card(about, at + 1));
  const acts = [...document.querySelectorAll("[data-act]")];
  cards.forEach((card) => acts.find((act) => act.dataset.act === card.about.act).append(card.root));
  // the browser has looked for the place of the address before there were cards
  cards.find((card) => `#${card.about.id}` === location.hash)?.root.scrollIntoView();
  // each by itself: one that cannot be drawn any more keeps no other from it
  for (const card of cards) {
    try {
      card.showKept();
    } catch (unknown) {
      console.info(`The kept result of ${card.about.id} is left out`, unknown);
    }
  }
  offerTour(cards, document.getElementById("tour"), document.getElementById("tour-bar"));

  if (running) {
    await cards.find((card) => card.about.id === running.experiment).follow(running.run, running.settings);
  }
} catch (refused) {
  document.getElementById("loading").textContent = refused.message;
}
