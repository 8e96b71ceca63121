// Makes an element: element("p", { className: "hint" }, "text", otherElement).
export function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

export function copyOf(template) {
  return document.getElementById(template).content.firstElementChild.cloneNode(true);
}
