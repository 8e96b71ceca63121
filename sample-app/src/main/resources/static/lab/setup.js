// What is chosen before a run: a guess, and the values of the parameters.

import { element } from "./dom.js";
import { recall, remember } from "./memory.js";
import { number, roughly } from "./numbers.js";

export class Setup {
  #about;
  #form;
  #command;
  #estimate;

  constructor(about, form, command) {
    this.#about = about;
    this.#form = form;
    this.#command = command;
    this.#estimate = form.querySelector(".estimate");
    this.#addGuesses();
    form.querySelector(".parameters .fields").append(...about.parameters.map((each) => field(about.id, each)));
    form.querySelector(".parameters").hidden = about.parameters.length === 0;
    form.querySelector(".defaults").addEventListener("click", () => this.set((each) => each.byDefault));
    form.addEventListener("input", () => this.#changed());
    this.#changed();
  }

  #addGuesses() {
    const { id, guesses } = this.#about;
    const kept = recall(guessKey(id));
    const choices = guesses.map((guess) => {
      const input = element("input", { type: "radio", name: "guess", value: guess, checked: guess === kept });
      input.addEventListener("change", () => remember(guessKey(id), guess));
      return element("label", {}, input, element("span", {}, guess));
    });
    this.#form.querySelector(".guess").hidden = guesses.length === 0;
    this.#form.querySelector(".choices").append(...choices);
  }

  get guess() {
    return this.#form.querySelector("input[name=guess]:checked")?.value;
  }

  // As they were typed: the server says what is wrong with them.
  get values() {
    return Object.fromEntries(this.#about.parameters.map(({ name }) => [name, this.#input(name).value]));
  }

  set(valueOf) {
    this.#about.parameters.forEach((parameter) => {
      this.#input(parameter.name).value = valueOf(parameter) ?? parameter.byDefault;
    });
    this.#changed();
  }

  #input(name) {
    return this.#form.elements.namedItem(name);
  }

  #changed() {
    const chosen = Object.entries(this.values).map(([name, value]) => ` --lab.${name}=${value}`);
    this.#command.textContent =
      `mvn spring-boot:run -Dspring-boot.run.arguments="--lab=${this.#about.id}${chosen.join("")}"`;
    const { seconds } = this.#about;
    const usual = this.#about.parameters.every(({ name, byDefault }) => Number(this.values[name]) === byDefault);
    this.#estimate.textContent = `Takes about ${roughly(seconds)}${usual ? "" : " with the default settings"}`;
    this.#about.parameters.forEach(({ name }) => {
      const input = this.#input(name);
      input.ariaInvalid = String(input.value === "" || !input.validity.valid);
    });
  }
}

function guessKey(id) {
  return `lab.guess.${id}`;
}

function field(id, { name, label, unit, min, max, byDefault }) {
  const input = element("input", { id: `${id}-${name}`, name, type: "number", min, max, step: 1, value: byDefault });
  const bounds = element("span", { id: `${input.id}-bounds`, className: "bounds" }, `${number(min)} to ${number(max)}`);
  input.setAttribute("aria-describedby", bounds.id);
  return element(
    "div",
    { className: "field" },
    element("label", { htmlFor: input.id }, unit ? `${label} (${unit})` : label),
    input,
    bounds,
  );
}
