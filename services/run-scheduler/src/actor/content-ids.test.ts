import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { newRunId, type OrgId } from '@methods/base/ids';
import { facts } from '../run/run.fixture.ts';
import { TestStore } from '../store/run-store.fixture.ts';
import { TestActors } from './test-actors.fixture.ts';

let db: TestStore;
let node: TestActors;
before(async () => {
  db = await TestStore.open();
  node = await TestActors.on(db);
});
after(() => db.close());

function start(contentId: string, { key = randomBytes(32), digest = randomBytes(32), orgId = 'org_a' as OrgId } = {}) {
  const sealed = { contentId, sealedBy: 'aa'.repeat(16) };
  const keyed = { idempotencyHash: key, requestDigest: digest };
  return node.actors.startRun({ ...facts, ...sealed, ...keyed, runId: newRunId(1), shard: 1, orgId }, null);
}

test('a content id is used once in an organization, even by starts at the same time, and again in another one', async () => {
  const contentId = randomBytes(16).toString('hex');
  const outcomes = await Promise.all(Array.from({ length: 5 }, () => start(contentId)));
  const kinds = outcomes.map((outcome) => (outcome.kind === 'failed' ? outcome.code : outcome.kind)).sort();
  assert.deepEqual(kinds, [...Array(4).fill('content_id_taken'), 'started']);
  assert.equal((await start(contentId, { orgId: 'org_b' })).kind, 'started');
});

test('a repeat gets its run, whichever content id the client made for it', async () => {
  const [key, digest] = [randomBytes(32), randomBytes(32)];
  const first = await start(randomBytes(16).toString('hex'), { key, digest });
  const again = await start(randomBytes(16).toString('hex'), { key, digest });
  assert.ok(first.kind === 'started' && again.kind === 'replayed');
  assert.equal(again.run.facts.runId, first.run.facts.runId);
  assert.equal(again.run.facts.contentId, first.run.facts.contentId);
});

test('while the database does not say who has a content id, its start is unavailable, not refused', async () => {
  const contentId = randomBytes(16).toString('hex');
  await start(contentId);
  const { store } = db;
  const { hasContent } = store;
  store.hasContent = () => Promise.reject(new Error('the database stalls'));
  try {
    const outcome = await start(contentId);
    assert.deepEqual(outcome, { kind: 'failed', code: 'unavailable' });
  } finally {
    store.hasContent = hasContent;
  }
});
