// What the server is asked for. A refusal is thrown as it was told, in words.

export class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail ?? problem.message ?? `The server answered ${status}`);
    this.status = status;
    this.run = problem.run;
  }
}

async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Refused(0, { detail: "The server does not answer. Is the application still running?" });
  }
  if (!response.ok) {
    throw new Refused(response.status, await response.json().catch(() => ({})));
  }
  return response.status === 204 ? null : response.json();
}

export function experiments() {
  return ask("lab/experiments");
}

// The run that somebody has started and that has not ended: { run, experiment, settings }, or null.
export function running() {
  return ask("lab/runs/running");
}

export function start(id, values) {
  return ask(`lab/experiments/${id}/runs`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(values),
  });
}

export function resize(limit, permits) {
  return ask(`actuator/virtualthreads/${limit}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ permits }),
  });
}

export function cancel(run) {
  return ask(`lab/runs/${run}`, { method: "DELETE" });
}
