// Shared by the routes of parts of runs: what they need, and how the API's description lists them.
import type { RunRouteParts } from '../runs/run-reply.ts';

export type RunPartRouteParts = Pick<
  RunRouteParts,
  'scheduler' | 'reads' | 'registry' | 'audit' | 'clock' | 'longWork' | 'downloads'
>;

export function described(operationId: string, summary: string) {
  return { operationId, summary, tags: ['runs of users'] };
}
