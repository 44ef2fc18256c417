// The events, a line each.

export interface TimelineEntry {
  readonly atMs: number;
  readonly who: 'app' | 'service' | 'webhook';
  readonly what: string;
  readonly detail: string;
}

const ARROWS = { app: 'app      ->', service: 'service  <-', webhook: 'webhook  <-' } as const;

export function timeline(entries: readonly TimelineEntry[]): string[] {
  return entries.map(({ atMs, who, what, detail }) => {
    const time = `${(atMs / 1000).toFixed(3).padStart(7)} s`;
    return `${time}  ${ARROWS[who]} ${what.padEnd(38)} ${detail}`.trimEnd();
  });
}
