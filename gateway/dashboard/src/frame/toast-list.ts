// The toasts that are shown: a few, each for some seconds; failures stay until they are dismissed.
import type { ReactNode } from 'react';

export interface Toast {
  readonly id: number;
  readonly text: ReactNode;
  /** A link or a button. */
  readonly action?: ReactNode;
  readonly error?: unknown;
}

const SHOWN_MAX = 4;
const SHOWN_MS = 6_000;

let shown: readonly Toast[] = [];
let count = 0;
const listeners = new Set<() => void>();

export function showToast(toast: Omit<Toast, 'id'>): void {
  count++;
  const id = count;
  change([...shown, { id, ...toast }].slice(-SHOWN_MAX));
  if (toast.error === undefined) setTimeout(() => dismissToast(id), SHOWN_MS);
}

/** Of an act that failed: "Cancel failed. The run has finished." */
export function showFailure(act: string, error: unknown): void {
  showToast({ text: `${act} failed. ${error instanceof Error ? error.message : ''}`, error });
}

export function dismissToast(id: number): void {
  change(shown.filter((each) => each.id !== id));
}

export function toasts(): readonly Toast[] {
  return shown;
}

export function subscribeToToasts(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function change(next: readonly Toast[]): void {
  shown = next;
  for (const each of listeners) each();
}
