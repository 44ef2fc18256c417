// The zone in which a person reads times: theirs, UTC, or the organization's. Kept in this browser.
import { useSyncExternalStore } from 'react';
import { useSettings } from '../session/settings.ts';

export type ZoneChoice = 'local' | 'utc' | 'organization';

const KEPT = 'methods-zone';
const listeners = new Set<() => void>();

export function setZoneChoice(choice: ZoneChoice): void {
  localStorage.setItem(KEPT, choice);
  for (const each of listeners) each();
}

export function useZoneChoice(): ZoneChoice {
  return useSyncExternalStore(subscribe, chosen);
}

/** Name of the IANA database. */
export function useZone(): string {
  const choice = useZoneChoice();
  const organization = useSettings().data?.time_zone;
  if (choice === 'utc') return 'UTC';
  return (choice === 'organization' ? organization : undefined) ?? localZone();
}

export function localZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  // Another tab has changed it.
  window.addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener('storage', listener);
  };
}

function chosen(): ZoneChoice {
  const kept = localStorage.getItem(KEPT);
  return kept === 'utc' || kept === 'organization' ? kept : 'local';
}
