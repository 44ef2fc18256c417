import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isMailAddress, messageId } from './mail-headers.ts';

test('an address names one mailbox, and cannot contain another header or person', () => {
  for (const good of ['ada@example.com', 'a.b+c@x-y.example', "o'neil@example.co", 'jörg@exämple.at', 'a@localhost'])
    assert.ok(isMailAddress(good), good);
  const bad = [
    '',
    'ada',
    '@x',
    'a@',
    'a b@x',
    'a@x\r\nBcc: b@x',
    'a@x\n',
    'a@x,b@x',
    'a@x;b@x',
    '<a@x>',
    'a@x>',
    'a@-x',
  ];
  const more = [
    'a@x..y',
    'a@.x',
    'a@x.',
    '"a"@x',
    'a\u0000@x',
    'a\u2028@x',
    `${'a'.repeat(65)}@x`,
    `a@${'x'.repeat(300)}`,
  ];
  for (const address of [...bad, ...more]) assert.equal(isMailAddress(address), false, JSON.stringify(address));
});

test('the same mail has the same id, and any other mail has another one', () => {
  const thread = { orgId: 'org_1', id: 'q_1', recipient: 'ada@example.com', part: '' } as const;
  const id = messageId(thread, 'example.com');
  assert.match(id, /^<[0-9a-f]{40}@example\.com>$/);
  assert.equal(messageId({ ...thread }, 'example.com'), id);
  const others = [
    { ...thread, id: 'q_2' as const },
    { ...thread, recipient: 'ben@example.com' },
    { ...thread, part: 'r' },
  ];
  assert.equal(new Set([id, ...others.map((other) => messageId(other, 'example.com'))]).size, 4);
});
