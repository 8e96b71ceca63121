// Follows a run to its end: { answer }, or { how, text } where there is none.
export function watch(run, view) {
  const source = new EventSource(`lab/runs/${run}/events`);
  const on = (type, handle) => source.addEventListener(type, (event) => handle(JSON.parse(event.data)));
  return new Promise((resolve) => {
    const close = (outcome) => {
      source.close();
      resolve(outcome);
    };
    // the server tells everything from the beginning, to a browser that comes back as well
    source.addEventListener("open", () => view.restart());
    on("progress", ({ done, text }) => view.progress(done, text));
    on("begin", ({ line }) => view.begin(line));
    on("point", ({ line, x, y }) => view.point(line, x, y));
    on("answer", ({ answer }) => close({ answer }));
    on("end", close);
    source.addEventListener("error", () => {
      if (source.readyState === EventSource.CLOSED) {
        close({ how: "lost", text: `The server knows nothing of run ${run} any more` });
      } else {
        view.progress(undefined, "Connection lost, trying again");
      }
    });
  });
}
