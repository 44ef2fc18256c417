import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OrgId } from '@methods/base/ids';
import { ManualClock } from '../manual-clock.fixture.ts';
import { WorkerNews } from './worker-news.ts';

test('changes of an organization within a second are one message', () => {
  const clock = new ManualClock();
  const published: OrgId[] = [];
  const news = new WorkerNews(clock, (orgId) => published.push(orgId));
  for (let n = 0; n < 1_000; n++) news.changed(n % 2 === 0 ? 'org_a' : 'org_b');
  assert.deepEqual(published, []);
  clock.forward(1_000);
  assert.deepEqual(published, ['org_a', 'org_b']);
  clock.forward(5_000);
  assert.equal(published.length, 2);
  news.changed('org_a');
  clock.forward(1_000);
  assert.deepEqual(published, ['org_a', 'org_b', 'org_a']);
});
