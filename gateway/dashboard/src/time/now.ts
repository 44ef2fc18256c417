// The present, for texts that grow old: one timer for all of them, and none while the page is hidden.
import { useSyncExternalStore } from 'react';

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let nowMs = Date.now();

function tick(): void {
  if (document.hidden) return;
  nowMs = Date.now();
  for (const each of listeners) each();
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) {
    nowMs = Date.now();
    timer = setInterval(tick, 1_000);
    document.addEventListener('visibilitychange', tick);
  }
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    document.removeEventListener('visibilitychange', tick);
  };
}

/** Wall time in ms, rounded down to `stepMs`: the caller is drawn again only when that changes. */
export function useNow(stepMs = 1_000): number {
  return useSyncExternalStore(subscribe, () => Math.floor(nowMs / stepMs) * stepMs);
}
