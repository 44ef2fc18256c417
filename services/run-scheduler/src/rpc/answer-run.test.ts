import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import type { QuestionId } from '@methods/base/ids';
import type { ServiceError } from '@methods/errors/service-error';
import { type AnswerRun, AnswerRunSchema } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { checkedFully } from '@methods/value-threads/checked-fully';
import type { CostlyValue } from '@methods/value-threads/value-threads';
import { runOf } from '../actor/refusals.ts';
import { TestActors } from '../actor/test-actors.fixture.ts';
import type { RunOwners } from '../bus/run-owners.ts';
import { ask, cancel, claim } from '../run/run.fixture.ts';
import type { AnswerChecksOf, Run } from '../run/run.ts';
import { TestStore } from '../store/run-store.fixture.ts';
import { runView } from '../wire/run-message.ts';
import { judgedAnswer } from '../worker-stream/derived-form.ts';
import { AnswerRuns } from './answer-run.ts';

const FORM = {
  type: 'object',
  properties: { ok: { type: 'boolean' }, note: { type: 'string', default: 'none' } },
  required: ['ok'],
  additionalProperties: false,
};

/** Its question accepts an answer by the answer itself, by an input, and by the out of an earlier step. */
const SOURCE = Buffer.from(`format: method/2
name: ab
inputs: { most: integer }
steps:
  - { name: order, node: "return { total: 1 }", out: { total: integer } }
  - name: third
    ask: Sure?
    out: { ok: boolean, note?: string, pieces?: integer }
    ensure:
      - A no has a reason: out.ok || out.note != "none"
      - name: It is no more than was ordered
        that: out.pieces == null || (out.pieces <= inputs.most && out.pieces <= steps.order.total)
        message: ${'${inputs.most}'} at most
      - { name: It is many, that: out.pieces == null || out.pieces > 1, level: warn }
`);

const code = (expected: string) => ({ name: 'ServiceError', code: expected });

describe('answers', () => {
  let db: TestStore;
  let node: TestActors;
  let answers: AnswerRuns;
  /** Organizations whose answers were sent to the threads. */
  let costly: string[];
  /** Runs between the read of the run and its owner's decision. */
  let meanwhile: () => Promise<unknown>;

  before(async () => {
    db = await TestStore.open();
  });
  after(() => db.close());

  beforeEach(async () => {
    node = await TestActors.on(db);
    meanwhile = async () => {};
    const owners: Pick<RunOwners, 'tell'> = {
      async tell(orgId, runId, command) {
        await meanwhile();
        return runView(runOf(await node.actors.tell(orgId, runId, command)));
      },
    };
    costly = [];
    const values = {
      async check(job: CostlyValue) {
        costly.push(job.orgId);
        const reply = checkedFully(job);
        return reply.ok ? { ok: true as const, value: JSON.parse(reply.valueJson) } : reply;
      },
    };
    const checks = {
      refusals: async (_: string, { path, scopeJson }: AnswerChecksOf, answerJson: string) =>
        judgedAnswer({ source: SOURCE, path, scopeJson, answerJson }),
    };
    answers = new AnswerRuns({ actors: node.actors, owners: owners as RunOwners, values, checks });
  });

  async function asks(
    run: Run & { token: string },
    questionId: QuestionId,
    seq = 1,
    form: object = FORM,
  ): Promise<Run> {
    const question = ask(run.token, seq, questionId, null);
    const outcome = await node.tell(run, { ...question, formJson: JSON.stringify(form) } as typeof question);
    assert.ok(outcome.kind === 'accepted', JSON.stringify(outcome));
    return outcome.run;
  }

  async function waiting(questionId = 'q_1'): Promise<Run> {
    return asks(await node.running(), questionId as QuestionId);
  }

  function request(run: Run, value: unknown, more: MessageInitShape<typeof AnswerRunSchema> = {}): AnswerRun {
    const { runId, orgId } = run.facts;
    return create(AnswerRunSchema, { runId, orgId, answerJson: JSON.stringify(value), ...more });
  }

  async function given(run: Run) {
    return (await db.load(run.facts.runId))?.answer;
  }

  test('an answer is stored with its defaults and the question it answers', async () => {
    const run = await waiting();
    await answers.answer(request(run, { ok: true }));
    const answer = await given(run);
    assert.deepEqual([answer?.questionId, JSON.parse(answer?.answerJson ?? '')], ['q_1', { ok: true, note: 'none' }]);
  });

  test('an answer that does not fit the form is refused with its faults, and the question stays open', async () => {
    const run = await waiting();
    await assert.rejects(answers.answer(request(run, { ok: 'yes' })), code('invalid_answer'));
    await assert.rejects(answers.answer(request(run, {}, { answerJson: '{' })), code('invalid_request'));
    assert.equal((await db.load(run.facts.runId))?.status, 'waiting');
  });

  test('an answer that a check refuses gets the sentence of the check, and the question stays open for a better one', async () => {
    const run = await node.running();
    const form = { ...FORM, properties: { ...FORM.properties, pieces: { type: 'integer' } } };
    const scopeJson = JSON.stringify({ inputs: { most: 5 }, steps: { order: { total: 3 } } });
    const { method, versionId } = run.facts;
    const checks = { method, versionId, path: 'third', scopeJson };
    const question = { ...ask(run.token, 1, 'q_1', null), formJson: JSON.stringify(form), checks };
    const asked = await node.tell(run, question as Parameters<typeof node.tell>[1]);
    assert.ok(asked.kind === 'accepted');
    const refusals: [answer: object, sentences: string[]][] = [
      [{ ok: false }, ['A no has a reason']],
      [{ ok: true, pieces: 4 }, ['It is no more than was ordered (5 at most)']],
      [{ ok: false, pieces: 6 }, ['A no has a reason', 'It is no more than was ordered (5 at most)']],
    ];
    for (const [answer, sentences] of refusals) {
      await assert.rejects(answers.answer(request(asked.run, answer)), (error: ServiceError) => {
        assert.equal(error.code, 'invalid_answer');
        assert.deepEqual(
          error.findings.map(({ code: kind, message }) => [kind, message]),
          sentences.map((sentence) => ['check_failed', sentence]),
        );
        return true;
      });
      assert.equal((await db.load(run.facts.runId))?.status, 'waiting');
    }
    // One piece counts as few, and must not be refused.
    await answers.answer(request(asked.run, { ok: true, pieces: 1 }));
    assert.equal((await db.load(run.facts.runId))?.status, 'queued');
  });

  test('an answer that is small as sent and too large with its defaults is refused, and the question stays open', async () => {
    const line = { type: 'object', properties: { note: { type: 'string', default: 'n'.repeat(1_000) } } };
    const form = { type: 'object', properties: { lines: { type: 'array', items: line } } };
    for (const lines of [65, 15_000]) {
      const run = await asks(await node.running(), 'q_1', 1, form);
      const answer = answers.answer(request(run, { lines: Array(lines).fill({}) }));
      await assert.rejects(answer, (error: ServiceError) => {
        assert.deepEqual([error.code, error.findings[0]?.code], ['too_large', 'answer_bytes']);
        return true;
      });
      assert.equal((await db.load(run.facts.runId))?.status, 'waiting');
    }
    const run = await asks(await node.running(), 'q_1', 1, form);
    await answers.answer(request(run, { lines: Array(60).fill({}) }));
  });

  test('a comment is kept with the answer and has at most 2,000 characters, of any width', async () => {
    const run = await waiting();
    await assert.rejects(
      answers.answer(request(run, { ok: true }, { comment: 'é'.repeat(2_001) })),
      (error: ServiceError) => {
        assert.deepEqual([error.code, error.findings[0]?.code], ['too_large', 'comment_characters']);
        return true;
      },
    );
    await answers.answer(request(run, { ok: true }, { comment: '😀'.repeat(2_000) }));
    assert.equal((await db.load(run.facts.runId))?.answers[0]?.comment, '😀'.repeat(2_000));
  });

  test('an answer that takes more than a turn to check is checked on a thread', async () => {
    const text = { type: 'string', pattern: '^[a-z0-9]{1,200}$' };
    const form = { type: 'object', properties: { texts: { type: 'array', items: text } } };
    const run = await asks(await node.running(), 'q_1', 1, form);
    const texts = Array.from({ length: 3_000 }, (_, n) => `text${n}`);
    await answers.answer(request(run, { texts }));
    assert.deepEqual(costly, ['org_a']);
    assert.deepEqual(JSON.parse((await given(run))?.answerJson ?? ''), { texts });
  });

  test('checking against a stored form that refers to itself costs at most one turn', async () => {
    const self = { anyOf: [{ $ref: '#/$defs/self' }, { $ref: '#/$defs/self' }] };
    const run = await asks(await node.running(), 'q_1', 1, { $defs: { self }, $ref: '#/$defs/self' });
    const before = process.cpuUsage();
    await assert.rejects(answers.answer(request(run, { decision: 'yes' })), code('invalid_answer'));
    const { user, system } = process.cpuUsage(before);
    assert.deepEqual(costly, ['org_a']);
    assert.ok(user + system < 5_000_000, `took ${(user + system) / 1_000} ms of CPU`);
  });

  test('the same answer with its fields in another order is a repeat', async () => {
    const run = await waiting();
    await answers.answer(request(run, { ok: true, note: 'x' }));
    await answers.answer(request(run, { note: 'x', ok: true }));
    await answers.answer(request(run, { note: 'x', ok: true }, { questionId: 'q_1' }));
    await assert.rejects(answers.answer(request(run, { ok: false })), code('run_not_waiting'));
    assert.equal((await db.load(run.facts.runId))?.revision, run.revision + 1);
  });

  test('an answer to a question other than the open one is refused', async () => {
    const run = await waiting();
    await assert.rejects(answers.answer(request(run, { ok: true }, { questionId: 'q_0' })), code('question_changed'));
  });

  test('a value checked against no form never answers a question asked meanwhile', async () => {
    const run = await node.running();
    meanwhile = () => asks(run, 'q_1');
    await assert.rejects(answers.answer(request(run, { nonsense: 1 })), code('question_changed'));
    assert.equal((await db.load(run.facts.runId))?.status, 'waiting');
  });

  test('a value checked against one form never answers the next question', async () => {
    const run = await waiting();
    meanwhile = async () => {
      meanwhile = async () => {};
      await answers.answer(request(run, { ok: false }));
      const token = 'next';
      const outcome = await node.tell(run, { ...claim(token) });
      assert.ok(outcome.kind === 'accepted');
      await asks({ ...outcome.run, token }, 'q_2');
    };
    await assert.rejects(answers.answer(request(run, { ok: true })), code('question_changed'));
    assert.equal((await given(run))?.questionId, 'q_1');
  });

  test('a repeated answer is still a repeat after the run continued', async () => {
    const run = await waiting();
    await answers.answer(request(run, { ok: true }));
    await node.tell(run, claim('t2'));
    assert.equal((await answers.answer(request(run, { ok: true }))).runId, run.facts.runId);
  });

  test("another organization's question is missing", async () => {
    const run = await waiting();
    const theirs = request(run, { ok: true }, { orgId: 'org_b' as const });
    await assert.rejects(answers.answer(theirs), code('not_found'));
    assert.equal(await given(run), null);
  });

  test('a cancelled run accepts no answer', async () => {
    const run = await waiting();
    await node.tell(run, cancel);
    await assert.rejects(answers.answer(request(run, { ok: true })), code('run_not_waiting'));
  });
});
