// Examples of the routes for people who look after runs.
import type { ExampleRow } from './examples.ts';
import { NO_RUNS } from './organizations.ts';

const one = (request: ExampleRow['request']): readonly ExampleRow[] => [{ request }];
const at = (path: string) => one(() => ({ path }));

export const WATCHED: Readonly<Record<string, readonly ExampleRow[]>> = {
  'GET /api/runs/:id/steps': one(({ runId }) => ({ path: `/api/runs/${runId}/steps` })),
  'GET /api/runs/:id/values': one(({ runId }) => ({ path: `/api/runs/${runId}/values?of=inputs` })),
  'GET /api/runs/:id/values/download': one(({ runId }) => ({ path: `/api/runs/${runId}/values/download?of=inputs` })),
  'GET /api/runs/:id/questions': one(({ runId }) => ({ path: `/api/runs/${runId}/questions` })),
  'GET /api/runs/statistics': at('/api/runs/statistics'),
  'GET /api/runs/failures': at('/api/runs/failures'),
  'GET /api/queues': at('/api/queues'),
  'GET /api/warnings': at('/api/warnings'),
  'GET /api/usage/csv': at('/api/usage/csv'),
  'GET /api/first-steps': at('/api/first-steps'),
  'POST /api/bulk': one(() => ({ path: '/api/bulk', body: { action: 'cancel', filter: NO_RUNS } })),
  'GET /api/bulk': at('/api/bulk'),
  'GET /api/bulk/:id': one(({ bulkId }) => ({ path: `/api/bulk/${bulkId}` })),
  'GET /api/bulk/:id/items': one(({ bulkId }) => ({ path: `/api/bulk/${bulkId}/items` })),
  'POST /api/bulk/:id/start': one(({ bulkId }) => ({ path: `/api/bulk/${bulkId}/start` })),
  'POST /api/bulk/:id/stop': one(({ bulkId }) => ({ path: `/api/bulk/${bulkId}/stop` })),
};
