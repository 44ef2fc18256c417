// Many who save the same thing at once, over both gateways, and sources whose every byte counts.
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { countingSource } from '../saved-method.ts';
import type { AccountWorld, MethodBody } from './account-world.ts';

const MANY = 100;

interface CreatedBody {
  readonly method: MethodBody;
  readonly created: boolean;
}

export function savedAtOnce(world: () => AccountWorld): void {
  describe('saving', () => {
    /** One of them on every gateway in turn. */
    const many = <Result>(work: (member: AccountWorld['member'], n: number) => Promise<Result>) => {
      const { member, stack } = world();
      const at = (n: number) => member.at(stack.gateways[n % stack.gateways.length] ?? '');
      return Promise.all(Array.from({ length: MANY }, (_, n) => work(at(n), n)));
    };
    const create = async (source: string): Promise<MethodBody> => {
      const body = { idempotency_key: randomUUID(), source };
      return (await world().member.request('POST', '/api/methods', { body })).read<CreatedBody>().method;
    };

    test('a hundred versions upon one leaves one of them, which all others get', async () => {
      const { id, current_version: base } = await create(countingSource(0));
      const replies = await many((member, n) => {
        const body = { workflow: countingSource(n + 1), base_version: base, reason: String(n) };
        return member.request('POST', `/api/cli/methods/${id}`, { body });
      });
      const [winner, ...none] = replies.filter(({ status }) => status === 201);
      assert.deepEqual(none, []);
      const { version_id: current } = winner?.read<{ version_id: string }>() ?? {};
      const others = replies.filter((reply) => reply !== winner);
      assert.deepEqual(new Set(others.map(({ status }) => status)), new Set([409]));
      for (const { text } of others) assert.equal(JSON.parse(text).current_version, current);
    });

    test('a hundred methods with one key makes one', async () => {
      const key = randomUUID();
      const replies = await many((member, n) => {
        const body = { idempotency_key: key, source: countingSource(n) };
        return member.request('POST', '/api/methods', { body });
      });
      const made = replies.map((reply) => reply.read<CreatedBody>());
      assert.equal(new Set(made.map(({ method }) => method.id)).size, 1);
      assert.equal(made.filter(({ created }) => created).length, 1);
      const sha256 = createHash('sha256').update(key).digest('hex');
      const found = await world().viewer.request('GET', `/api/workflow-creation-requests/${sha256}`);
      assert.equal(found.read<{ method: MethodBody }>().method.id, made[0]?.method.id);
    });

    test('keeps every byte', async () => {
      const plain = countingSource(0);
      const sources = [
        `\ufeff${plain}`,
        plain.replaceAll('\n', '\r\n'),
        `${plain}# Cafe\u0301, \u1e9b\u0323 and \ud83d\udc4b\ud83c\udffd\n`,
        plain.trimEnd(),
      ];
      for (const source of sources) {
        const { id } = await create(source);
        const read = await world().viewer.request('GET', `/api/cli/methods/${id}`);
        const told = read.read<{ source: string; sha256: string }>();
        assert.deepEqual(Buffer.from(told.source), Buffer.from(source));
        assert.equal(told.sha256, createHash('sha256').update(source).digest('hex'));
      }
    });
  });
}
