import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { Secret } from '@methods/config/environment';
import { type LinkedQuestion, makeLink } from './answer-link.ts';

const keyOf = (byte: number) => new Secret(Buffer.alloc(32, byte).toString('base64'));
const links = { key: keyOf(7), publicUrl: 'https://methods.example' };
const asked: LinkedQuestion = { orgId: 'org_1', questionId: 'q_1', recipient: 'ada@example.com', n: 0 };

test('a link made again is the same one, and its hash is that of the token in its address', () => {
  const { url, tokenSha256 } = makeLink(links, asked);
  assert.deepEqual(makeLink(links, { ...asked }), { url, tokenSha256 });
  const [, token = ''] = /^https:\/\/methods\.example\/a\/([A-Za-z0-9_-]{43})$/.exec(url) ?? [];
  assert.deepEqual(tokenSha256, createHash('sha256').update(token).digest());
});

test('another key, organization, question, recipient or number is another link', () => {
  const others: readonly LinkedQuestion[] = [
    { ...asked, orgId: 'org_2' },
    { ...asked, questionId: 'q_2' },
    { ...asked, recipient: 'bob@example.com' },
    { ...asked, n: 1 },
    // Parts that would be the same text when joined.
    { ...asked, questionId: 'q_1ada', recipient: '@example.com' },
  ];
  const urls = [
    makeLink(links, asked),
    ...others.map((other) => makeLink(links, other)),
    makeLink({ ...links, key: keyOf(8) }, asked),
  ].map(({ url }) => url);
  assert.equal(new Set(urls).size, urls.length);
});
