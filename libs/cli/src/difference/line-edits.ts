// The shortest way from one list of lines to another (E. Myers, "An O(ND) Difference Algorithm", 1986).

export type LineEdit =
  | { readonly kind: 'same'; readonly line: string }
  | { readonly kind: 'gone'; readonly line: string }
  | { readonly kind: 'new'; readonly line: string };

/** Time and memory grow with its square. Texts that differ more are shown as one block that replaces another. */
const EDITS_MAX = 2_000;

export function lineEdits(before: readonly string[], after: readonly string[]): LineEdit[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head++;
  let tail = 0;
  const most = Math.min(before.length, after.length) - head;
  while (tail < most && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  const same = (line: string): LineEdit => ({ kind: 'same', line });
  return [
    ...before.slice(0, head).map(same),
    ...middleEdits(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...before.slice(before.length - tail).map(same),
  ];
}

function middleEdits(before: readonly string[], after: readonly string[]): LineEdit[] {
  const rounds = reach(before, after);
  if (rounds === null) {
    return [
      ...before.map((line): LineEdit => ({ kind: 'gone', line })),
      ...after.map((line): LineEdit => ({ kind: 'new', line })),
    ];
  }
  return walkBack(before, after, rounds);
}

/**
 * For each number of edits the furthest `x` on every diagonal (x - y), as it was before that round; null when it takes
 * too many.
 */
function reach(before: readonly string[], after: readonly string[]): Map<number, number>[] | null {
  const furthest = new Map([[1, 0]]);
  const rounds: Map<number, number>[] = [];
  for (let edits = 0; edits <= Math.min(before.length + after.length, EDITS_MAX); edits++) {
    rounds.push(new Map([...furthest].filter(([diagonal]) => Math.abs(diagonal) <= edits + 1)));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = comesDown(furthest, diagonal, edits) ? at(furthest, diagonal + 1) : at(furthest, diagonal - 1) + 1;
      let y = x - diagonal;
      while (x < before.length && y < after.length && before[x] === after[y]) {
        x++;
        y++;
      }
      furthest.set(diagonal, x);
      if (x >= before.length && y >= after.length) return rounds;
    }
  }
  return null;
}

function walkBack(before: readonly string[], after: readonly string[], rounds: Map<number, number>[]): LineEdit[] {
  const edits: LineEdit[] = [];
  let [x, y] = [before.length, after.length];
  for (let count = rounds.length - 1; count >= 0; count--) {
    const furthest = rounds[count] ?? new Map<number, number>();
    const diagonal = x - y;
    const down = comesDown(furthest, diagonal, count);
    const from = down ? diagonal + 1 : diagonal - 1;
    const [startX, startY] = count === 0 ? [0, 0] : [at(furthest, from), at(furthest, from) - from];
    while (x > startX && y > startY) {
      x--;
      y--;
      edits.push({ kind: 'same', line: before[x] ?? '' });
    }
    if (count === 0) break;
    edits.push(down ? { kind: 'new', line: after[startY] ?? '' } : { kind: 'gone', line: before[startX] ?? '' });
    [x, y] = [startX, startY];
  }
  return edits.reverse();
}

function comesDown(furthest: ReadonlyMap<number, number>, diagonal: number, edits: number): boolean {
  return diagonal === -edits || (diagonal !== edits && at(furthest, diagonal - 1) < at(furthest, diagonal + 1));
}

function at(furthest: ReadonlyMap<number, number>, diagonal: number): number {
  return furthest.get(diagonal) ?? 0;
}
