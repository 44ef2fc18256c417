import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import type { Party, Question, Receipt } from '@methods/api/question';
import type { Output } from '../terminal/output.ts';
import { timeOf } from '../terminal/words.ts';
import { showAnswers, showVotes } from './show-answers.ts';

const AT = '2026-11-23T13:31:00.000Z';
const ada: Party = { kind: 'user', id: 'usr_1', name: 'Ada', email: 'ada@acme.example' };

function lines(show: (output: Output) => void): string[] {
  const said: string[] = [];
  show({ line: (text = '') => said.push(text), paint: (_: string, text: string) => text } as unknown as Output);
  return said;
}

function answered(changes: Partial<Receipt>): string[] {
  const answer = { step: 'approval', answered_at: AT, by: ada, channel: 'inbox', answer: { ok: true }, ...changes };
  return lines((output) => showAnswers({ answers: [answer as Receipt] }, output));
}

test('each accepted answer is shown with its person, channel, time, value and comment', () => {
  const at = timeOf(AT);
  deepEqual(answered({ comment: 'As agreed.\nTwice.' }), [
    `approval: answered by Ada (ada@acme.example) in the Inbox, ${at}, {"ok":true}`,
    '    As agreed.\n    Twice.',
  ]);
  const link: Party = { kind: 'link', recipient: 'bob@acme.example' };
  deepEqual(answered({ by: link, channel: 'link' }), [
    `approval: answered by bob@acme.example through a link, ${at}, {"ok":true}`,
  ]);
  const key: Party = { kind: 'service_key', id: 'key_1' };
  deepEqual(answered({ by: key, channel: 'api', votes: [] }), [
    `approval: answered by the key key_1 over the API, ${at}, {"ok":true}`,
  ]);
  deepEqual(answered({ by: null, channel: 'timeout' }), [`approval: no one answered in time, ${at}, {"ok":true}`]);
  deepEqual(
    answered({
      comment: 'Fine.',
      votes: [
        { by: link, channel: 'link', at: AT, comment: 'I called them.' },
        { by: ada, channel: 'inbox', at: AT, comment: 'Fine.' },
      ],
    }),
    [
      `approval: answered by Ada (ada@acme.example) in the Inbox, ${at}, {"ok":true}; 2 people agreed: bob@acme.example, Ada (ada@acme.example)`,
      '    Fine.',
      '    bob@acme.example: I called them.',
    ],
  );
});

test('texts of others do not act on the terminal, and long values are cut', () => {
  const name = '\u001b]0;title\u0007Ada\u001b[2J';
  const [line = '', comment] = answered({ by: { ...ada, name }, comment: 'a\u001b[31mb', answer: 'x'.repeat(5_000) });
  deepEqual([line.includes('\u001b'), line.length < 400, comment], [false, true, '    ab']);
});

test('the votes so far are shown with the question', () => {
  const question = { needs: { count: 2 }, votes: [{ by: ada, channel: 'cli', at: AT, answer: { ok: true } }] };
  deepEqual(
    lines((output) => showVotes(question as unknown as Question, output)),
    [
      '',
      '  2 people have to agree; so far:',
      `  answered by Ada (ada@acme.example) on the command line, ${timeOf(AT)}, {"ok":true}`,
    ],
  );
  deepEqual(
    lines((output) => showVotes({} as Question, output)),
    [],
  );
});
