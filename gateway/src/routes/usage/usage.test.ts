import { deepEqual } from 'node:assert/strict';
import { before, test } from 'node:test';
import { assertRefused } from '../../testing/api.fixture.ts';
import { fileApi } from '../../testing/file-api.fixture.ts';

const { viewer } = fileApi();

before(async () => {
  await viewer('GET', '/api/whoami');
});

test('a range that is not of days, or longer than a year, is refused', async () => {
  for (const [query, detail] of [
    ['from=2026-02-30', 'from'],
    ['to=2026-13-01', 'to'],
    ['from=2026-02-02&to=2026-02-01', 'from'],
    ['from=2025-01-01&to=2026-01-02', 'from'],
  ]) {
    assertRefused(await viewer('GET', `/api/usage?${query}`), 400, 'invalid_request', detail);
  }
  for (const query of ['from=today', 'limit=5', 'from=2026-02-01T00:00:00Z'])
    assertRefused(await viewer('GET', `/api/usage?${query}`), 400, 'invalid_request');
});

test('an unknown method id has no usage, and without a run-scheduler there is none', async () => {
  deepEqual((await viewer('GET', '/api/usage?method=wf_1')).body, { items: [], next_cursor: null });
  assertRefused(await viewer('GET', '/api/usage'), 503, 'unavailable');
});
