// The keys of the present page, for the help that `?` opens: components add theirs while they are shown.
import { useEffect, useSyncExternalStore } from 'react';

export interface KeyHelp {
  /** Like `j` or `Ctrl K`. */
  readonly keys: string;
  readonly does: string;
}

interface HelpPart {
  readonly title: string;
  readonly keys: readonly KeyHelp[];
}

let parts: readonly HelpPart[] = [];
const listeners = new Set<() => void>();

function change(next: readonly HelpPart[]): void {
  parts = next;
  for (const each of listeners) each();
}

/** `part` must be the same object at every call. */
export function useKeyHelp(part: HelpPart): void {
  useEffect(() => {
    change([...parts, part]);
    return () => change(parts.filter((each) => each !== part));
  }, [part]);
}

export function useAllKeyHelp(): readonly HelpPart[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => parts,
  );
}
