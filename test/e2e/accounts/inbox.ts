// The Inbox through the whole stack: a question is in it from the moment a run asks until it is answered, for the people of
// its organization only.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ApiClient } from '../api-client.ts';
import { person } from '../people.ts';
import type { AccountWorld } from './account-world.ts';

export function inbox(world: () => AccountWorld): void {
  describe('the Inbox', () => {
    async function asked(as: ApiClient, method: 'GET' | 'POST', path: string, body?: object) {
      const { status, text } = await as.request(method, path, body === undefined ? {} : { body });
      return { status, body: JSON.parse(text) };
    }

    /** Of this run. */
    async function open(as: ApiClient, runId: string, query = ''): Promise<string[]> {
      const { status, body } = await asked(as, 'GET', `/api/inbox?limit=200${query}`);
      assert.equal(status, 200, JSON.stringify(body));
      return body.items.flatMap((item: { id: string; run_id: string }) => (item.run_id === runId ? [item.id] : []));
    }

    test('has a question as soon as its run waits, and not any more once it is answered', async () => {
      const { stack, member, viewer } = world();
      const stranger = await person(stack, { email: 'sam@inbox.example', role: 'admin', organization: 'Elsewhere' });
      const waiting = await stack.api.startSettled({ method: stack.method('two-questions') });
      const { run_id: runId } = waiting;
      const id = waiting.question?.id ?? '';
      const path = `/api/questions/${id}`;
      assert.deepEqual([await open(viewer, runId), await open(stranger, runId)], [[id], []]);
      assert.equal((await asked(viewer, 'GET', path)).body.question.prompt, 'Go on?');
      for (const [act, body] of [
        ['assign', { assignee: 'me' }],
        ['delegate', { to: 'me' }],
        ['answer', { answer: { go: true } }],
      ] as const) {
        assert.equal((await asked(stranger, 'POST', `${path}/${act}`, body)).status, 404, act);
        assert.equal((await asked(viewer, 'POST', `${path}/${act}`, body)).status, 403, act);
      }
      // As large as an answer and its comment may be, and it does not fit.
      const body = { answer: { go: 'x'.repeat(65_000) }, comment: '\u{1F600}'.repeat(2_000) };
      const large = await asked(member, 'POST', `${path}/answer`, body);
      assert.deepEqual([large.status, large.body.error], [422, 'invalid_answer']);

      assert.equal((await asked(member, 'POST', `${path}/assign`, { assignee: 'me' })).body.state, 'open');
      assert.deepEqual(await open(member, runId, '&mine=true'), [id]);
      const both = await Promise.all([
        asked(member, 'POST', `${path}/answer`, { answer: { go: true }, comment: 'Fine.' }),
        asked(member, 'POST', `${path}/answer`, { answer: { go: false } }),
      ]);
      assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409]);
      assert.ok(!(await open(viewer, runId)).includes(id));
      const { state, receipt } = (await asked(viewer, 'GET', path)).body;
      assert.deepEqual([state, receipt.channel, receipt.by.email], ['answered', 'cli', 'mo@example.com']);
      assert.equal((await asked(member, 'POST', `${path}/assign`, { assignee: 'me' })).status, 409);
      await stack.api.settled(runId);
      await stack.api.cancel(runId);
      assert.deepEqual(await open(viewer, runId), []);
    });

    test('is for the people that a question names, also for viewers, and for whom they delegate it to', async () => {
      const { stack, member } = world();
      const ada = await person(stack, { email: 'ada@acme.example', role: 'viewer' });
      const bob = await person(stack, { email: 'bob@acme.example', role: 'member' });
      const { user: mo } = (await asked(member, 'GET', '/api/whoami')).body;
      const waiting = await stack.api.startSettled({ method: stack.method('agree'), inputs: { amount: 250 } });
      const { run_id: runId } = waiting;
      const id = waiting.question?.id ?? '';
      const path = `/api/questions/${id}`;
      const approve = { answer: { decision: 'approve' } };
      assert.deepEqual(await open(ada, runId), [id]);
      const refusal = async (as: typeof ada) => (await asked(as, 'GET', path)).body.refusal;
      assert.deepEqual([await refusal(ada), await refusal(member)], [undefined, 'not_named']);
      const refused = await asked(member, 'POST', `${path}/answer`, approve);
      assert.deepEqual([refused.status, refused.body.error], [403, 'not_an_answerer']);
      // A key is no person.
      const byKey = await stack.api.request('POST', `/v1/runs/${runId}/answer`, { body: approve });
      assert.equal(byKey.status, 403);

      const vote = await asked(ada, 'POST', `${path}/answer`, approve);
      assert.deepEqual([vote.status, vote.body.status, vote.body.question.votes.length], [200, 'waiting', 1]);
      const given = await asked(bob, 'POST', `${path}/delegate`, { to: mo.id });
      assert.deepEqual([given.status, given.body.assignee, given.body.votes_given], [200, mo.id, 1]);
      assert.deepEqual(await open(member, runId, '&mine=true'), [id]);
      assert.equal(await refusal(member), undefined);
      const back = await asked(member, 'POST', `${path}/delegate`, { to: 'bob@acme.example' });
      assert.deepEqual([back.status, back.body.details[0].code], [400, 'delegate_has_delegated']);

      assert.equal((await asked(member, 'POST', `${path}/answer`, approve)).status, 200);
      const { result } = await stack.api.settled(runId);
      assert.deepEqual(result, { decision: 'approve' });
      const { receipt } = (await asked(ada, 'GET', path)).body;
      const people = receipt.votes.map(({ by }: { by: { email: string } }) => by.email);
      assert.deepEqual(people, ['ada@acme.example', 'mo@example.com']);
    });
  });
}
