// Matches a step as a test names it with its path in a run: `pages` is every round of it, `pages[2]` is one.

interface PathPart {
  readonly name: string;
  readonly index: number | null;
}

export interface PatternMatch {
  /** Given indexes: of two patterns that match, the one with more is used. */
  readonly exact: number;
  /** The innermost open index; null: none. */
  readonly open: number | null;
}

/** Null: the pattern matches another step. */
export function matchPath(pattern: string, path: string): PatternMatch | null {
  const wanted = partsOf(pattern);
  const found = partsOf(path);
  if (wanted.length !== found.length) return null;
  let exact = 0;
  let open: number | null = null;
  for (const [at, want] of wanted.entries()) {
    const part = found[at];
    if (part === undefined || part.name !== want.name) return null;
    if (want.index !== null) {
      if (want.index !== part.index) return null;
      exact++;
    } else if (part.index !== null) {
      open = part.index;
    }
  }
  return { exact, open };
}

/** The path as in the source. */
export function withoutRounds(path: string): string {
  return path.replaceAll(/\[\d+\]/g, '');
}

function partsOf(path: string): PathPart[] {
  return path.split('/').map((part) => {
    const [, name = part, index] = /^(.*)\[(\d+)\]$/.exec(part) ?? [];
    return { name, index: index === undefined ? null : Number(index) };
  });
}
