// One thing that `methods doctor` looked at.

export interface Finding {
  /** Stable and for programs, such as `clock`. */
  readonly name: string;
  /** `warning`: something works less well, or not all methods run. */
  readonly state: 'ok' | 'warning' | 'problem';
  /** The finding itself. */
  readonly found: string;
  /** The remedy; null if none is needed. */
  readonly remedy: string | null;
}

export function ok(name: string, found: string): Finding {
  return { name, state: 'ok', found, remedy: null };
}

export function warning(name: string, found: string, remedy: string): Finding {
  return { name, state: 'warning', found, remedy };
}

export function problem(name: string, found: string, remedy: string): Finding {
  return { name, state: 'problem', found, remedy };
}
