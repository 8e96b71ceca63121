// Permits, queue and connections from what is known of the calls.

import { copyable } from "./copy.js";
import { number } from "./numbers.js";

export function openCalculator(form) {
  const place = form.querySelector("#limit-yaml");
  const code = copyable(place.querySelector(".copyable"), "the limit");
  const value = (id) => form.querySelector(`#${id}`).valueAsNumber;
  const tell = (id, text) => {
    const output = form.querySelector(`#${id}`);
    // an output is announced when it is written, so it is not written without need
    if (output.textContent !== text) {
      output.textContent = text;
    }
  };
  const calculate = () => {
    const [rate, time, wait, replicas, connections] = ["rate", "time", "wait", "replicas", "connections"].map(value);
    const permits = permitsFor(rate, time);
    tell("permits", permits ? `${number(rate)} × ${number(time)} s = ${number(permits)}` : "Rate and time are numbers above 0");
    tell("queue", permits ? queue(permits, wait, time) : "–");
    tell("fits", permits ? fits(permits, replicas, connections, time) : "–");
    const fitting = permits && Math.min(permits, allowed(replicas, connections));
    code.textContent = fitting ? yaml(fitting, wait, time) : "";
    place.hidden = !fitting;
  };
  form.addEventListener("input", calculate);
  form.addEventListener("submit", (event) => event.preventDefault());
  calculate();
}

// A part of a permit is a permit; but 100 × 0.07 is 7, whatever floating point makes of it.
export function permitsFor(rate, time) {
  return rate > 0 && time > 0 ? Math.ceil(Number((rate * time).toPrecision(12))) : null;
}

function capacityFor(permits, wait, time) {
  return Math.floor(Number(((permits * wait) / time).toPrecision(12)));
}

// In each replica; as many as one likes where it is not said how many there are.
function allowed(replicas, connections) {
  return replicas >= 1 && connections >= 1 ? Math.floor(connections / replicas) : Infinity;
}

// Nobody waits at all where the wait is 0, and any time where it is not said.
function yaml(permits, wait, time) {
  const lines = ["virtual-thread:", "  limits:", "    db:", `      permits: ${permits}`];
  const millis = Math.round(wait * 1000);
  if (wait >= 0) {
    lines.push(`      queue-capacity: ${capacityFor(permits, wait, time)}`);
  }
  if (millis > 0) {
    lines.push(`      max-wait: ${millis % 1000 === 0 ? `${millis / 1000}s` : `${millis}ms`}`);
  }
  return lines.join("\n");
}

function queue(permits, wait, time) {
  if (!(wait >= 0)) {
    return "The maximum wait is a number, 0 or more";
  }
  const capacity = capacityFor(permits, wait, time);
  return `${number(permits)} × ${number(wait)} s / ${number(time)} s = ${number(capacity)} calls; one more would wait too long`;
}

function fits(permits, replicas, connections, time) {
  if (!(replicas >= 1 && connections >= 1)) {
    return "Replicas and connections are numbers of at least 1";
  }
  const all = permits * replicas;
  const sum = `${number(replicas)} × ${number(permits)} = ${number(all)} connections`;
  if (all <= connections) {
    return `${sum}: it fits, ${number(connections - all)} are left for others`;
  }
  const each = allowed(replicas, connections);
  return each === 0
    ? `${sum}: it does not fit, there are more replicas than connections`
    : `${sum}: it does not fit. At most ${number(each)} permits in each replica, enough for ${number(each / time)} calls per second`;
}
