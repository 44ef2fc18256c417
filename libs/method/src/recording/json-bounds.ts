// Checks JSON before it is parsed: a parser keeps its place in every open bracket, so that a few hundred MiB of nothing
// but brackets take many times as much memory, which no limit of a thread's heap counts.

const LEVELS_MAX = 200;
/** Recorded bodies are strings; what is outside of them is small. */
const MARKS_MAX = 5_000_000;

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_LIST = 91;
const BACKSLASH = 92;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** Whether `json` may be parsed: at most 200 levels and 5,000,000 brackets, commas and colons. */
export function isWithinBounds(json: string): boolean {
  let levels = 0;
  let marks = 0;
  for (let i = 0; i < json.length; i++) {
    switch (json.charCodeAt(i)) {
      case QUOTE:
        i = endOfString(json, i);
        continue;
      case OPEN_LIST:
      case OPEN_OBJECT:
        levels++;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        levels--;
        break;
      case COMMA:
      case COLON:
        break;
      default:
        continue;
    }
    marks++;
    if (levels > LEVELS_MAX || marks > MARKS_MAX) return false;
  }
  return true;
}

function endOfString(json: string, start: number): number {
  for (let at = json.indexOf('"', start + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let escapes = 0;
    while (json.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return at;
  }
  return json.length;
}
