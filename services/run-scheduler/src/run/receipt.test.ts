import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newestReceipts, RECEIPTS_MAX, type Receipt, receiptOf, shortPrompt } from './receipt.ts';
import { person, runs } from './run.fixture.ts';

const given = { by: person('ann'), channel: 'inbox', comment: '', answerJson: '{}' } as const;
const receipt = (changes: Partial<Receipt> = {}): Receipt => ({
  ...receiptOf(runs.waiting.question, given, [], 5),
  ...changes,
});

test('a receipt has the hashes of what was asked, and an answer only while it is short', () => {
  const question = { ...runs.waiting.question, formSha256: 'f0', versionSha256: 'e0' };
  const short = receiptOf(question, { ...given, comment: 'fine' }, [], 7);
  assert.deepEqual(
    [short.formSha256, short.versionSha256, short.answeredAtMs, short.comment, short.answerJson, short.votes],
    ['f0', 'e0', 7, 'fine', '{}', undefined],
  );
  const long = receiptOf(question, { ...given, answerJson: `"${'x'.repeat(4_096)}"` }, [], 7);
  assert.equal(long.answerJson, '');
});

test('the votes of a receipt have no values, and only the beginning of their comments', () => {
  const vote = {
    by: person('ben'),
    answerJson: '{"a":1}',
    atMs: 1,
    channel: 'link',
    comment: 'y'.repeat(2_000),
  } as const;
  const [kept] = receiptOf(runs.waiting.question, given, [vote], 7).votes ?? [];
  assert.deepEqual({ ...kept, comment: kept?.comment.length }, { by: vote.by, atMs: 1, channel: 'link', comment: 200 });
});

test('a run keeps its newest receipts, bounded by number and size', () => {
  const many = Array.from({ length: RECEIPTS_MAX + 5 }, (_, n) => receipt({ answeredAtMs: n }));
  const kept = newestReceipts(many);
  assert.deepEqual(
    [kept.length, kept[0]?.answeredAtMs, kept.at(-1)?.answeredAtMs],
    [RECEIPTS_MAX, 5, RECEIPTS_MAX + 4],
  );
  const votes = Array.from({ length: 100 }, () => ({
    by: person('ann'),
    atMs: 1,
    channel: null,
    comment: 'z'.repeat(200),
  }));
  const large = newestReceipts(Array.from({ length: 50 }, () => receipt({ comment: 'c'.repeat(2_000), votes })));
  assert.ok(large.length > 5 && large.length < 20, String(large.length));
});

test('a prompt is cut between characters', () => {
  const smiles = shortPrompt('😀'.repeat(400));
  assert.ok(smiles.length <= 500 && smiles.endsWith('…'));
  // Half of a surrogate pair cannot be written in UTF-8.
  assert.doesNotThrow(() => encodeURIComponent(smiles));
});
