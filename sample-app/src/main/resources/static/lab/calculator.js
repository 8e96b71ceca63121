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
    const ids = ["rate", "time", "busy", "wait", "replicas", "connections"];
    const [rate, time, busy, wait, replicas, connections] = ids.map(value);
    const permits = permitsFor(rate, time, busy);
    const fitting = permits && Math.min(permits, allowed(replicas, connections));
    const drains = fitting && drainsWith(fitting, rate, time);
    tell("permits", permits ? `${number(rate)} × ${number(time)} s / ${number(busy)} % = ${number(permits)}` : missing(rate, time));
    tell("expected", fitting ? expected(fitting, rate, time) : "–");
    tell("queue", drains ? queue(fitting, wait, time) : "–");
    tell("fits", permits ? fits(permits, replicas, connections, time) : "–");
    code.textContent = drains ? yaml(fitting, wait, time) : "";
    place.hidden = !drains;
  };
  form.addEventListener("input", calculate);
  form.addEventListener("submit", (event) => event.preventDefault());
  calculate();
}

// Rounds away what floating point adds: 100 × 0.07 is 7.
function exactly(value) {
  return Number(value.toPrecision(12));
}

// A part of a permit is a permit. With all of them busy all the time the queue would never drain.
export function permitsFor(rate, time, busy) {
  return rate > 0 && time > 0 && busy > 0 && busy < 100 ? Math.ceil(exactly((rate * time * 100) / busy)) : null;
}

function missing(rate, time) {
  return rate > 0 && time > 0 ? "Busy at most is a number above 0 and below 100" : "Rate and time are numbers above 0";
}

function drainsWith(permits, rate, time) {
  return permits > exactly(rate * time);
}

// Mean wait for a permit in seconds, by Erlang's formula for M/M/c.
export function expectedWait(permits, rate, time) {
  const load = rate * time;
  let blocked = 1; // Erlang B, from the formula for one permit less
  for (let c = 1; c <= permits; c++) {
    blocked = (load * blocked) / (c + load * blocked);
  }
  const waits = blocked / (1 - (load / permits) * (1 - blocked));
  return (waits * time) / (permits - load);
}

function expected(permits, rate, time) {
  const busy = `${permits === 1 ? "1 permit is" : `${number(permits)} permits are`} busy ${number((rate * time * 100) / permits)} %`;
  return drainsWith(permits, rate, time)
    ? `${number(expectedWait(permits, rate, time) * 1000)} ms on average: ${busy}`
    : `The queue would never drain: ${number(permits)} permits serve ${number(permits / time)} calls per second`;
}

function capacityFor(permits, wait, time) {
  return Math.floor(exactly((permits * wait) / time));
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
