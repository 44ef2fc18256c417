// Whether single keys act: they can be switched off, as those who dictate or press keys by accident need it.
import { useSyncExternalStore } from 'react';

const KEPT = 'methods-single-keys';
const listeners = new Set<() => void>();

export function setSingleKeys(act: boolean): void {
  localStorage.setItem(KEPT, act ? 'on' : 'off');
  for (const each of listeners) each();
}

export function useSingleKeys(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => singleKeysAct(),
  );
}

export function singleKeysAct(): boolean {
  return localStorage.getItem(KEPT) !== 'off';
}

/** A key without Ctrl, Alt or Meta that is not typed into a field. */
export function isSingleKey(event: KeyboardEvent | React.KeyboardEvent): boolean {
  if (event.ctrlKey || event.altKey || event.metaKey || !singleKeysAct()) return false;
  const native = 'nativeEvent' in event ? event.nativeEvent : event;
  if (native.isComposing) return false;
  const target = event.target as HTMLElement | null;
  return !target?.closest('input, textarea, select, [contenteditable="true"], .cm-editor, [role="dialog"]');
}
