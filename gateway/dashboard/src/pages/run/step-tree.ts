// The steps of a run as rows of a tree: each below the step that ran it, such as the rounds of a loop. Pure.

interface AnyStep {
  /** The step's path, like `each[3]/fetch`. */
  readonly name: string;
  readonly rounds?: Readonly<Record<string, number>>;
}

export interface StepRow<Step> {
  readonly step: Step;
  /** What the path adds to that of the row above it. */
  readonly label: string;
  readonly depth: number;
  /** It has rows below it, shown or not. */
  readonly isParent: boolean;
  readonly isOpen: boolean;
}

/**
 * `rounds`: the steps below each folded loop that is open, by its path. `closed`: the paths of other parents whose rows
 * are hidden. A step is listed where it, or the first step below it, is in the list: one that runs others is recorded
 * when it ends.
 */
export function stepRows<Step extends AnyStep>(
  steps: readonly Step[],
  rounds: ReadonlyMap<string, readonly Step[]>,
  closed: ReadonlySet<string>,
): StepRow<Step>[] {
  const known = new Map<string, Step>();
  for (const step of steps) {
    known.set(step.name, step);
    for (const round of rounds.get(step.name) ?? []) known.set(round.name, round);
  }
  const below = new Map<string, string[]>([['', []]]);
  const placed = new Set<string>();
  const place = (path: string) => {
    if (placed.has(path)) return;
    placed.add(path);
    const parent = nearest(path, known);
    if (parent !== '') place(parent);
    const siblings = below.get(parent);
    if (siblings === undefined) below.set(parent, [path]);
    else siblings.push(path);
  };
  for (const path of known.keys()) place(path);
  const rows: StepRow<Step>[] = [];
  // A stack in place of recursion: paths may be as deep as they are long.
  const left = (below.get('') ?? []).map((path) => ({ path, parent: '', depth: 0 })).reverse();
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { path, parent, depth } = next;
    const step = known.get(path) as Step;
    const children = below.get(path) ?? [];
    const isFolded = step.rounds !== undefined;
    const isParent = isFolded || children.length > 0;
    const isOpen = isFolded ? rounds.has(path) : isParent && !closed.has(path);
    rows.push({ step, label: labelOf(path, parent), depth, isParent, isOpen });
    if (!isOpen) continue;
    for (let at = children.length - 1; at >= 0; at--) {
      left.push({ path: children[at] as string, parent: path, depth: depth + 1 });
    }
  }
  return rows;
}

/** The longest path of a known step that this one is below; empty: none. */
function nearest(path: string, known: ReadonlyMap<string, unknown>): string {
  for (let at = path.length - 1; at > 0; at--) {
    const sign = path.charAt(at);
    if ((sign === '/' || sign === '[') && known.has(path.slice(0, at))) return path.slice(0, at);
  }
  return '';
}

function labelOf(path: string, parent: string): string {
  if (parent === '') return path;
  return path.slice(parent.length).replace(/^\//, '');
}

/** The top-level step that a path belongs to. */
export function topLevelOf(path: string): string {
  return /^[^/[]*/.exec(path)?.[0] ?? path;
}
