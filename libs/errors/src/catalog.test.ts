import { deepEqual, equal, match } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { catalog, isErrorCode } from './catalog.ts';

const PAGES = new URL('../../../docs/errors/', import.meta.url);
const entries = Object.entries(catalog);

describe('the catalogue of errors', () => {
  test('has one page a code and no other pages', () => {
    deepEqual(readdirSync(PAGES).sort(), entries.map(([code]) => `${code}.md`).sort());
  });

  for (const [code, { grpc, http, repeatSafe }] of entries) {
    test(`the page of ${code} has its cause, its remedy, whether a repeat is safe and its statuses`, () => {
      const parts = readFileSync(new URL(`${code}.md`, PAGES), 'utf8').split('\n\n');
      const [title, cause = '', remedy = '', repeat = '', statusLine] = parts;
      equal(title, `# ${code} (${http})`);
      match(cause, /^\*\*Cause\.\*\* [A-Z]/);
      match(remedy, /^\*\*Remedy\.\*\* [A-Z]/);
      equal(repeat.startsWith('**Repeat.** Safe'), repeatSafe);
      match(repeat, /^\*\*Repeat\.\*\* (Safe|Not)/);
      equal(statusLine, `gRPC status: ${grpc}.\n`);
      equal(parts.length, 5);
    });
  }

  test('every title is a sentence', () => {
    for (const [, { title }] of entries) match(title, /^[A-Z].*\.$/);
  });

  test('distinguishes its codes from other words', () => {
    equal(isErrorCode('not_found'), true);
    equal(isErrorCode('toString'), false);
    equal(isErrorCode(''), false);
  });
});
