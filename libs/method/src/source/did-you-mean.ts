// Owns "did you mean": the nearest known word by edit distance, after words people bring from other languages.

// Longer words are no typing slip of a known one, and the distance is quadratic in the length.
const WORD_CHARACTERS_MAX = 64;
/** More are not compared. */
export const CANDIDATES_MAX = 500;

/** The candidate nearest to `word` within a third of its length (swaps count once), or undefined. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > WORD_CHARACTERS_MAX) return undefined;
  const lowered = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  let seen = 0;
  for (const candidate of candidates) {
    if (++seen > CANDIDATES_MAX) break;
    if (candidate.length > WORD_CHARACTERS_MAX) continue;
    const allowed = Math.max(1, Math.floor(Math.max(word.length, candidate.length) / 3));
    if (Math.abs(word.length - candidate.length) > allowed) continue;
    const most = Math.min(allowed, bestDistance - 1, candidate.length - 1);
    const distance = editDistance(lowered, candidate.toLowerCase(), most);
    if (distance <= most) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** A hint from `nearest`, or from a list of all words when there are few. */
export function hintNearest(word: string, candidates: Iterable<string>, listTitle?: string): string | undefined {
  const known = [...candidates];
  const found = nearest(word, known);
  if (found !== undefined) return `did you mean "${found}"?`;
  if (listTitle === undefined || known.length === 0) return undefined;
  return `${listTitle}: ${known.slice(0, 20).join(', ')}${known.length > 20 ? ', …' : ''}`;
}

/** The distance; any number above `most` where it is larger than that. */
function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  const width = b.length + 1;
  let before = new Uint8Array(width);
  let above = Uint8Array.from({ length: width }, (_, column) => column);
  let current = new Uint8Array(width);
  let leastAbove = 0;
  for (let row = 1; row <= a.length; row++) {
    // Cells further off the diagonal than `most` cannot be part of a short enough way.
    const first = Math.max(1, row - most);
    const last = Math.min(b.length, row + most);
    current[first - 1] = first === 1 ? row : most + 1;
    if (last < b.length) current[last + 1] = most + 1;
    let least = first === 1 ? row : most + 1;
    for (let column = first; column <= last; column++) {
      const same = a.charCodeAt(row - 1) === b.charCodeAt(column - 1) ? 0 : 1;
      let cost = Math.min((above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, (above[column - 1] ?? 0) + same);
      const swapped =
        row > 1 &&
        column > 1 &&
        a.charCodeAt(row - 1) === b.charCodeAt(column - 2) &&
        a.charCodeAt(row - 2) === b.charCodeAt(column - 1);
      if (swapped) cost = Math.min(cost, (before[column - 2] ?? 0) + 1);
      current[column] = cost;
      least = Math.min(least, cost);
    }
    // A row is made of the two above it, so once both are past the bound the rest is too.
    if (least > most && leastAbove > most) return most + 1;
    leastAbove = least;
    [before, above, current] = [above, current, before];
  }
  return above[b.length] ?? 0;
}
