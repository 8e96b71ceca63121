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

// Of this version of the page: another one draws what its own server answers.
const RESULT = "lab.result.1.";

export function rememberResult(id, result) {
  remember(RESULT + id, JSON.stringify(result));
}

export function recallResult(id) {
  return JSON.parse(recall(RESULT + id));
}
