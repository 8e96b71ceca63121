const announcer = document.getElementById("announcer");

// Says it to a screen reader, once.
export function announce(text) {
  announcer.textContent = text;
}
