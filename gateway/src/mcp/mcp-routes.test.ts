import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { test } from 'node:test';
import { systemClock } from '@methods/base/clock';
import { UnreadReplies, unreadParts } from '../plugins/unread-replies.ts';
import { messageBody } from './mcp-routes.ts';

test('large parts count as unread until the reply ends, and end it over a share', async () => {
  const replies = new UnreadReplies(systemClock, { perKeyMax: 50_000 });
  const raw = new EventEmitter();
  const counted = () =>
    unreadParts(replies, { kind: 'service_key', orgId: 'org_1', keyId: 'key_1' } as never, { raw } as never);
  const part = (bytes: number) => new Response(Buffer.alloc(bytes)).body ?? assert.fail();
  messageBody(part(40_000), counted()).resume();
  const [failed] = await once(messageBody(part(40_000), counted()).resume(), 'error');
  assert.equal(failed.code, 'rate_limited');
  raw.emit('close');
  const whole = messageBody(part(40_000), counted()).resume();
  await once(whole, 'end');
});
