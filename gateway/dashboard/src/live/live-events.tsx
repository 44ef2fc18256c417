// The organization's events for all pages: they mark replies as old, and pages may listen to them. A query names the
// events that make it old in its `meta`: `{ staleOn: ['run'], everyMs: 10_000 }`.
import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, use, useEffect, useMemo, useRef, useState } from 'react';
import { pathOf } from '../api/client.ts';
import { useApi } from '../api/use-api.ts';
import { viewerKey } from '../session/viewer-key.ts';
import type { LiveState } from './event-connection.ts';
import { Refresher } from './refresher.ts';
import { isNewerRelease } from './release.ts';
import { SharedStream } from './shared-stream.ts';

export type EventName = 'run' | 'question' | 'method' | 'build' | 'delivery' | 'bulk' | 'key' | 'workers';

export interface LiveEvent {
  /** `question` also for what happens to one. */
  readonly name: EventName;
  /** As the stream names it, like `question.closed`. */
  readonly exactName: string;
  // biome-ignore lint/suspicious/noExplicitAny: the shape of each event is documented in docs/events.md
  readonly data: any;
}

declare module '@tanstack/react-query' {
  interface Register {
    queryMeta: {
      /** Events that make this reply old. Empty: the page applies events to it by itself. */
      readonly staleOn?: readonly EventName[];
      /** The least time between two calls for events; 1 s unless named. */
      readonly everyMs?: number;
    };
  }
}

type Listener = (event: LiveEvent) => void;

interface Live {
  readonly state: LiveState;
  /** The server has a newer dashboard than this page. */
  readonly isOutdated: boolean;
  readonly listeners: Set<Listener>;
}

const LiveContext = createContext<Live | null>(null);

export function useLive(): Live {
  const live = use(LiveContext);
  if (live === null) throw new Error('useLive outside of an organization');
  return live;
}

/** Calls the latest `listener` for each event. */
export function useEvents(listener: Listener): void {
  const { listeners } = useLive();
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => {
    const own: Listener = (event) => latest.current(event);
    listeners.add(own);
    return () => void listeners.delete(own);
  }, [listeners]);
}

export function LiveEvents({ children }: { readonly children: ReactNode }) {
  const { org } = useApi();
  const queryClient = useQueryClient();
  const [listeners] = useState(() => new Set<Listener>());
  const [state, setState] = useState<LiveState>({ kind: 'connecting' });
  const [isOutdated, setOutdated] = useState(false);

  useEffect(() => {
    const refresher = new Refresher(queryClient, org);
    let missed: 'since loading' | 'any' | null = 'since loading';
    const stream = new SharedStream(`${pathOf(org)}/api/events`, {
      onEvent({ event, data }) {
        if (event === 'ready' || event === 'dropped') return;
        if (event === 'resync') return refresher.everything();
        const name = event.split('.')[0] as EventName;
        refresher.because(name);
        const live: LiveEvent = { name, exactName: event, data: JSON.parse(data) };
        for (const each of listeners) each(live);
      },
      onState(next) {
        setState(next);
        if (next.kind === 'stopped') missed = 'any';
        if (next.kind !== 'open') return;
        const last = missed;
        missed = null;
        if (last === 'since loading') refresher.loadedBefore();
        if (last !== 'any') return;
        // What happened meanwhile may be in no event.
        refresher.everything();
        // A server that was unavailable may be a newer one.
        void isNewerRelease().then((newer) => newer && setOutdated(true));
      },
      onRefused: () => void queryClient.invalidateQueries({ queryKey: viewerKey(org) }),
    });
    return () => {
      stream.close();
      refresher.stop();
    };
  }, [org, queryClient, listeners]);

  const live = useMemo(() => ({ state, isOutdated, listeners }), [state, isOutdated, listeners]);
  return <LiveContext value={live}>{children}</LiveContext>;
}
