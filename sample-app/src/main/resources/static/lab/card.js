// One experiment: what it asks, what is chosen, how far it is, what it has found.

import { announce } from "./announce.js";
import { copyable } from "./copy.js";
import { copyOf } from "./dom.js";
import { recallResult, rememberResult } from "./memory.js";
import { Result } from "./result.js";
import * as server from "./server.js";
import { Setup } from "./setup.js";
import { Slider } from "./slider.js";
import { watch } from "./watch.js";

const CONFLICT = 409;
const RETRY_MILLIS = 300;
const RETRIES = 40;

export class Card {
  root = copyOf("card-template");
  #setup;
  #result;
  #slider;
  #starting;
  #run;

  // number: its place on the page
  constructor(about, number) {
    this.about = about;
    this.number = number;
    this.root.id = about.id;
    this.#write(about);
    const command = copyable(this.#find(".repeat .copyable"), "the command");
    this.#setup = new Setup(about, this.#find("form"), command);
    this.#result = new Result(about, this.#find(".result"));
    if (about.resizes) {
      this.#slider = new Slider(this.#find(".resize"), about.id, about.resizes);
    } else {
      this.#find(".resize").remove();
    }
    this.#find("form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.run();
    });
    this.#find(".cancel").addEventListener("click", () => this.cancel());
    this.#find(".instead").addEventListener("click", () => this.#runInstead());
  }

  #find(selector) {
    return this.root.querySelector(selector);
  }

  #write({ id, title, question, notShown, code, yml }) {
    const heading = this.#find("h3");
    heading.id = `${id}-title`;
    this.root.setAttribute("aria-labelledby", heading.id);
    const { number } = this;
    const texts = { ".number": number, ".title": title, ".question": question, ".not-shown-text": notShown };
    Object.entries(texts).forEach(([selector, text]) => {
      this.#find(selector).textContent = text;
    });
    copyable(this.#find(".code .copyable"), "the code").textContent = code;
    copyable(this.#find(".yml .copyable"), "the settings").textContent = yml;
    this.#find(".code").hidden = code === "";
    this.#find(".yml").hidden = yml === "";
    this.#find(".run").ariaLabel = `Run experiment ${number}`;
    this.#find(".cancel").ariaLabel = `Cancel experiment ${number}`;
    this.#find(".defaults").ariaLabel = `Defaults of experiment ${number}`;
    this.#find("progress").ariaLabel = `Progress of experiment ${number}`;
  }

  get isRunning() {
    return this.#run !== undefined;
  }

  // Small enough for a tour of all experiments.
  runSmall() {
    this.#setup.set((parameter) => parameter.small);
    return this.run();
  }

  // Whether it has found an answer.
  async run() {
    this.#tell("");
    try {
      this.#starting = server.start(this.about.id, this.#setup.values);
      const { run, settings } = await this.#starting;
      return await this.follow(run, settings);
    } catch (refused) {
      this.#tell(refused.message, refused.status === CONFLICT ? refused.run : undefined);
      return false;
    }
  }

  // Shows a run that has been started, here or elsewhere.
  async follow(run, settings) {
    this.#run = run;
    this.#setup.set(({ name }) => settings[name]);
    this.#result.open();
    this.#toggle(true);
    announce(`Experiment ${this.number} runs`);
    const outcome = await watch(run, {
      restart: () => this.#result.clear(),
      progress: (done, text) => this.#progress(done, text),
      begin: (line) => this.#result.begin(line),
      point: (line, x, y) => this.#result.point(line, x, y),
    });
    this.#run = undefined;
    this.#toggle(false);
    if (outcome.answer) {
      const kept = { answer: outcome.answer, settings, guess: this.#setup.guess, at: Date.now() };
      const lines = this.#result.lines;
      const verdict = this.#result.show(kept);
      rememberResult(this.about.id, { ...kept, lines });
      announce(`Experiment ${this.number}: ${outcome.answer.sentence}${verdict && ` ${verdict}`}`);
    } else {
      this.#tell(outcome.how === "failed" ? `It failed: ${outcome.text}` : outcome.text);
    }
    return outcome.answer !== undefined;
  }

  // What was found last, before the page was loaded again.
  showKept() {
    const kept = recallResult(this.about.id);
    if (kept) {
      this.#setup.set(({ name }) => kept.settings[name]);
      this.#result.open();
      kept.lines.forEach(([line, points]) => points.forEach(({ x, y }) => this.#result.point(line, x, y)));
      this.#result.show(kept);
      this.#result.date(kept.at);
    }
  }

  async cancel() {
    await this.#starting?.catch(() => {
      // told by the one who has started it
    });
    if (this.isRunning) {
      this.#progress(undefined, "Cancelling");
      await server.cancel(this.#run).catch((refused) => this.#tell(refused.message));
    }
  }

  async #runInstead() {
    const button = this.#find(".instead");
    await server.cancel(button.value).catch(() => {
      // it has ended meanwhile
    });
    this.#tell("Waiting for the end of the other one");
    for (let i = 0; i < RETRIES && (await server.running()) !== null; i++) {
      await new Promise((resolve) => setTimeout(resolve, RETRY_MILLIS));
    }
    await this.run();
  }

  #progress(done, text) {
    if (done !== undefined) {
      this.#find("progress").value = done;
    }
    this.#find(".step").textContent = text;
  }

  // The button that is pressed goes away, so the focus goes to the one in its place.
  #toggle(running) {
    const [from, to] = running ? [".run", ".cancel"] : [".cancel", ".run"];
    const focused = document.activeElement === this.#find(from) || (!running && this.#slider?.hasFocus);
    this.#find(to).hidden = false;
    if (focused) {
      this.#find(to).focus();
    }
    this.#find(from).hidden = true;
    this.#find(".defaults").hidden = running;
    this.#find(".estimate").hidden = running;
    if (this.#slider) {
      this.#slider.enabled = running;
    }
    this.#find(".running").hidden = !running;
    this.root.classList.toggle("busy", running);
    this.#progress(0, running ? "Starting" : "");
  }

  #tell(problem, other) {
    this.#find(".problem").hidden = problem === "";
    this.#find(".problem-text").textContent = problem;
    this.#find(".instead").hidden = other === undefined;
    this.#find(".instead").value = other ?? "";
  }
}
