// A text with a button that copies it.

import { announce } from "./announce.js";
import { copyOf } from "./dom.js";

const SHOWN_MILLIS = 3000;

// In place of an empty element; returns where the text belongs. what: what is copied, for those who do not see where the button is.
export function copyable(place, what) {
  const made = copyOf("copyable-template");
  const code = made.querySelector("code");
  const button = made.querySelector("button");
  button.ariaLabel = `Copy ${what}`;
  button.addEventListener("click", () => copy(code.textContent, (told) => (button.textContent = told), "Copy"));
  place.replaceWith(made);
  return code;
}

// tell shows the outcome for a moment, and then what was there before.
export async function copy(text, tell, before = "") {
  let told = "Copied";
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // by HTTP from another machine, or not allowed
    told = "The browser refuses: select the text";
  }
  tell(told);
  announce(told);
  setTimeout(() => tell(before), SHOWN_MILLIS);
}
