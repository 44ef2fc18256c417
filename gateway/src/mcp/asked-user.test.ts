import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { QuestionId, RunId } from '@methods/base/ids';
import { createRequestStateCodec } from '@modelcontextprotocol/server';
import type { FastifyRequest } from 'fastify';
import { askedCodec } from './asked-user.ts';

const KEY = Buffer.alloc(32, 7);
const ASKED = { runId: 'run_1' as RunId, questionId: 'q_1' as QuestionId, waitMs: 0 };
const EXCHANGE = {} as never;

function codecOf(orgId: string, userId = 'usr_1', key = KEY) {
  const caller = { kind: 'user', orgId, userId, role: 'member' };
  return askedCodec({ caller } as unknown as FastifyRequest, key);
}

test('what a user was asked counts for that person in that organization, under that key', async () => {
  const state = await codecOf('org_1').mint(ASKED, EXCHANGE);
  assert.deepEqual(await codecOf('org_1').verify(state, EXCHANGE), ASKED);
  const others = [codecOf('org_2'), codecOf('org_1', 'usr_2'), codecOf('org_1', 'usr_1', Buffer.alloc(32, 8))];
  for (const other of others) await assert.rejects(async () => other.verify(state, EXCHANGE));
});

test('what a user was asked counts for an hour', async () => {
  const mint = (ttlSeconds: number) =>
    createRequestStateCodec({ key: KEY, ttlSeconds, bind: () => 'org_1 usr_1' }).mint(ASKED, EXCHANGE);
  assert.deepEqual(await codecOf('org_1').verify(await mint(60), EXCHANGE), ASKED);
  const past = await mint(-1);
  await assert.rejects(async () => codecOf('org_1').verify(past, EXCHANGE));
  const [, payload = ''] = (await codecOf('org_1').mint(ASKED, EXCHANGE)).split('.');
  const { exp } = JSON.parse(Buffer.from(payload, 'base64url').toString());
  assert.ok(Math.abs(exp - Date.now() / 1_000 - 3_600) < 60, String(exp));
});
