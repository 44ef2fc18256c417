// The zone in which a person reads times: theirs, UTC, or the organization's. Kept in this browser.
import { createContext, type ReactNode, use, useMemo, useSyncExternalStore } from 'react';
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

/** Names of the IANA database. */
interface Zones {
  readonly read: string;
  readonly organization: string | undefined;
}

const ZonesContext = createContext<Zones>({ read: 'UTC', organization: undefined });

/** A list has hundreds of times: none of them watches the settings itself. */
export function ZonesOfPage({ children }: { readonly children: ReactNode }) {
  const choice = useZoneChoice();
  const organization = useSettings().data?.time_zone;
  const read = choice === 'utc' ? 'UTC' : ((choice === 'organization' ? organization : undefined) ?? localZone());
  const zones = useMemo(() => ({ read, organization }), [read, organization]);
  return <ZonesContext value={zones}>{children}</ZonesContext>;
}

export function useZones(): Zones {
  return use(ZonesContext);
}

export function useZone(): string {
  return useZones().read;
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
