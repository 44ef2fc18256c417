// Owns the keys of `tests`: of one test, of what it expects, and of a mocked error.
import type { KeyTable } from '../structure/keys.ts';

export const TEST_KEYS: KeyTable = {
  what: 'a test',
  keys: ['name', 'inputs', 'secrets', 'mock', 'answers', 'expect'],
  foreign: new Map([
    ['title', 'name'],
    ['description', 'name'],
    ['input', 'inputs'],
    ['with', 'inputs'],
    ['params', 'inputs'],
    ['env', 'secrets'],
    ['mocks', 'mock'],
    ['stub', 'mock'],
    ['stubs', 'mock'],
    ['given', 'mock'],
    ['human', 'answers'],
    ['ask', 'answers'],
    ['answer', 'answers'],
    ['assert', 'expect'],
    ['expected', 'expect'],
    ['then', 'expect'],
  ]),
  extensible: true,
};

export const EXPECT_KEYS: KeyTable = {
  what: 'expect',
  keys: ['status', 'result', 'skipped', 'failed_step', 'checks_failed', 'that'],
  foreign: new Map([
    ['output', 'result'],
    ['outputs', 'result'],
    ['returns', 'result'],
    ['skip', 'skipped'],
    ['failed', 'failed_step'],
    ['step', 'failed_step'],
    ['error', 'failed_step'],
    ['checks', 'checks_failed'],
    ['failed_checks', 'checks_failed'],
    ['assert', 'that'],
    ['ensure', 'that'],
  ]),
  extensible: false,
};

export const MOCK_ERROR_KEYS: KeyTable = {
  what: '$error',
  keys: ['kind', 'status', 'code', 'message', 'reason', 'headers', 'body'],
  foreign: new Map([
    ['type', 'kind'],
    ['http', 'status'],
    ['text', 'message'],
  ]),
  extensible: false,
};

/** How a tested run can end; `waiting`: at a question without an answer. */
export const STATUSES = ['succeeded', 'failed', 'waiting'] as const;
