import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Caller } from '@methods/auth/caller';
import { AnswerChannel } from '@methods/proto/run/v1/run_pb';
import type { FastifyRequest } from 'fastify';
import { verifiedEmail } from '../clients/accounts.ts';
import { actorOf, channelOf, NO_ONE } from './request-actor.ts';

const as = (caller: Partial<Caller>) => ({ caller, clientName: '' }) as unknown as FastifyRequest;
const person = { kind: 'user', orgId: 'org_1', userId: 'usr_1', role: 'viewer', name: 'Ann' } as const;

test('a person acts with their role and their address, which counts only if it is verified, in any case', () => {
  const verified = verifiedEmail({ email: 'Ann@Example.COM', emailVerified: true });
  const request = as({ ...person, verifiedEmail: verified, credential: 'session' });
  const actor = { ...NO_ONE, personId: 'usr_1', email: 'ann@example.com', name: 'Ann', role: 'viewer' };
  assert.deepEqual(actorOf(request), actor);
  assert.equal(verifiedEmail({ email: 'ann@example.com', emailVerified: false }), '');
});

test('a key acts as itself, and the credential determines the channel', () => {
  const key = as({ kind: 'service_key', orgId: 'org_1', keyId: 'key_1' });
  assert.deepEqual([actorOf(key), channelOf(key)], [{ ...NO_ONE, keyId: 'key_1' }, AnswerChannel.API]);
  const channels = (['session', 'machine_token', 'mcp_token'] as const).map((credential) =>
    channelOf(as({ ...person, verifiedEmail: '', credential })),
  );
  assert.deepEqual(channels, [AnswerChannel.INBOX, AnswerChannel.CLI, AnswerChannel.MCP]);
});
