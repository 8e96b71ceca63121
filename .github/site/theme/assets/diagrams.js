// The theme colours the heads of arrows by the id arrowhead, which Mermaid no longer gives them: in the dark they would be black on black.
const { initialize } = mermaid;
mermaid.initialize = (options) =>
  initialize({
    ...options,
    themeCSS: `${options.themeCSS}[id$="-arrowhead"] path { fill: var(--md-mermaid-sequence-message-line-color); stroke: none }`,
  });
