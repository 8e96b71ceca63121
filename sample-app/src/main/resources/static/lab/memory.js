// What the browser keeps for the next visit, where it may keep anything.

export function recall(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function remember(key, text) {
  try {
    localStorage.setItem(key, text);
  } catch {
    // then it is asked again next time
  }
}
