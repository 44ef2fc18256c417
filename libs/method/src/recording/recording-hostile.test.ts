// Recordings made to crash or stall the compiler: each ends in a bounded time with a draft or a finding.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { leastCpuMs } from '@methods/test/harness/cpu-time';
import fc from 'fast-check';
import { compileMethod } from '../compile.ts';
import { compileRecording } from './compile-recording.ts';

const FOLDER = new URL('./fixtures/', import.meta.url);
const FIXTURES = readdirSync(FOLDER)
  .sort()
  .map((name): unknown => JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')));

function isSound(json: string): void {
  const { source, findings } = compileRecording(json);
  if (source === null) assert.ok(findings.length > 0);
  else assert.ok(compileMethod(source).method);
}

const post = (text: string, answer = '{}') => ({
  request: { method: 'POST', url: 'https://a.example.com/x', postData: { mimeType: 'application/json', text } },
  response: { status: 200, content: { mimeType: 'application/json', text: answer } },
});
const log = (...entries: unknown[]) => JSON.stringify({ log: { entries } });
const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
const wide = JSON.stringify(Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`key${n}`, `value${n}`])));

const HOSTILE: Readonly<Record<string, string>> = {
  'deep JSON': deep,
  'a deep log': `{"log":{"entries":${deep}}}`,
  'deep bodies and answers': log(post(deep, deep), post('{"a":"value"}')),
  'a wide body': log(post(wide, wide)),
  'a wide answer read by many': log(
    post('{}', wide),
    ...Array.from({ length: 300 }, (_, n) => post(`{"k${n}":"value${n}"}`)),
  ),
  'many entries': log(
    ...Array.from({ length: 2_000 }, (_, n) => post(`{"a":"v${n}","password":"p${n}"}`, `{"t":"v${n + 1}"}`)),
  ),
  'many large answers': log(...Array.from({ length: 2_000 }, () => post('{"a":"value1"}', wide.slice(0, 8_000)))),
  'names of Object.prototype': log(
    post(
      '{"__proto__":{"x":"yyyy"},"constructor":"aaaa","toString":"bbbb"}',
      '{"__proto__":"aaaa","constructor":"bbbb"}',
    ),
  ),
  'one name again and again': log(post(`[${Array.from({ length: 5_000 }, (_, n) => `{"a":"v${n}"}`).join()}]`)),
  'odd characters': log(post(JSON.stringify({ a: '\0', '\ud800': '\ud800', '${x': '=y', ': #': "'" }))),
  'an endless address': log({
    ...post('{}'),
    request: { method: 'GET', url: `https://a.example.com/${'a1/'.repeat(100_000)}` },
  }),
  'a query of one long word': log(post(JSON.stringify({ query: `mutation { a }${'pass'.repeat(15_000)}` }))),
  'a token that is hard to find': log(post('{"password":"hunter22"}', JSON.stringify({ t: 'a'.repeat(2_000_000) })), {
    ...post('{}'),
    request: {
      method: 'GET',
      url: 'https://a.example.com/y',
      headers: [{ name: 'authorization', value: `Bearer ${'a'.repeat(300_000)}b${'a'.repeat(300_000)}` }],
    },
  }),
  'endless redirects': log(
    ...Array.from({ length: 2_000 }, () => ({ ...post('{}'), response: { status: 302, redirectURL: '/x' } })),
  ),
  'many clicks': JSON.stringify({
    steps: Array.from({ length: 2_000 }, () => ({ type: 'click', selectors: [['#a', deep]] })),
  }),
  'large selectors': JSON.stringify({
    steps: [{ type: 'change', value: 'x', selectors: Array(50_000).fill(['aria/x']) }],
  }),
};

for (const [what, json] of Object.entries(HOSTILE)) {
  test(`a recording of ${what} ends in time`, () => {
    const cpuMs = leastCpuMs(10_000, () => isSound(json));
    assert.ok(cpuMs < 10_000, `took ${cpuMs} ms of CPU`);
  });
}

/** Puts `value` in place of some part of a JSON value; `path` chooses the way. */
function replaced(json: unknown, path: readonly number[], value: unknown): unknown {
  const [choice, ...rest] = path;
  if (choice === undefined || typeof json !== 'object' || json === null) return value;
  const keys = Object.keys(json);
  const key = keys[choice % Math.max(1, keys.length)];
  if (key === undefined) return value;
  if (Array.isArray(json))
    return json.map((item, index) => (String(index) === key ? replaced(item, rest, value) : item));
  return { ...json, [key]: replaced((json as Record<string, unknown>)[key], rest, value) };
}

test('a good recording with parts replaced gives a draft or a finding, never a throw', () => {
  const path = fc.array(fc.nat(20), { minLength: 2, maxLength: 8 });
  const change = fc.tuple(
    path,
    fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.string({ unit: 'binary', maxLength: 20 }), fc.webUrl()),
  );
  fc.assert(
    fc.property(
      fc.constantFrom(...FIXTURES),
      fc.array(change, { minLength: 1, maxLength: 4 }),
      (recording, changes) => {
        let json = recording;
        for (const [at, value] of changes) json = replaced(json, at, value);
        isSound(JSON.stringify(json));
      },
    ),
    { numRuns: 400 },
  );
});

test('any JSON and any text give a draft or a finding, never a throw', () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string({ unit: 'binary', maxLength: 100 })), (json) => isSound(json)),
    { numRuns: 300 },
  );
});
