// What can be done on the present page, for the palette: components add theirs while they are shown.
import { useEffect, useRef, useSyncExternalStore } from 'react';

interface PageAction {
  readonly title: string;
  readonly act: () => void;
}

let actions: readonly PageAction[] = [];
const listeners = new Set<() => void>();

/** `title`: a verb and what it acts on. Null: it is not offered now. */
export function useAction(title: string | null, act: () => void): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    if (title === null) return undefined;
    const own: PageAction = { title, act: () => latest.current() };
    change([...actions, own]);
    return () => change(actions.filter((each) => each !== own));
  }, [title]);
}

export function useActions(): readonly PageAction[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => actions,
  );
}

function change(next: readonly PageAction[]): void {
  actions = next;
  for (const each of listeners) each();
}
