// Shows the answers to a run's questions: who gave each, how, when and with which comment.

import type { Party, Question, Vote } from '@methods/api/question';
import type { Run } from '@methods/api/run';
import type { Output } from '../terminal/output.ts';
import { plainText } from '../terminal/plain-text.ts';
import { timeOf } from '../terminal/words.ts';

const CHANNELS: Readonly<Record<string, string>> = {
  api: 'over the API',
  cli: 'on the command line',
  inbox: 'in the Inbox',
  link: 'through a link',
  chat: 'through the button of a chat',
  handler: 'by its handler',
  mcp: 'through an MCP client',
};
const VALUE_CHARACTERS_MAX = 200;
const COMMENT_CHARACTERS_MAX = 2_000;

/** The accepted ones. A server before receipts has none. */
export function showAnswers({ answers = [] }: Pick<Run, 'answers'>, output: Output): void {
  for (const answer of answers) {
    const people = (answer.votes ?? []).map(({ by }) => partyWords(by));
    const agreed = people.length > 1 ? plainText(`; ${people.length} people agreed: ${people.join(', ')}`) : '';
    output.line(`${plainText(answer.step)}: ${sentence(answer, answer.answered_at)}${agreed}`);
    showComment(answer, output);
    // Of those who agreed before, whose comments are beside their own answers only.
    for (const { by, comment = '' } of answer.votes ?? []) {
      const who = partyWords(by);
      if (comment !== '' && who !== partyWords(answer.by)) showComment({ comment: `${who}: ${comment}` }, output);
    }
  }
}

/** Of an open question that needs several people. */
export function showVotes({ needs, votes = [] }: Question, output: Output): void {
  if (needs === undefined) return;
  output.line();
  output.line(`  ${needs.count} people have to agree; ${votes.length === 0 ? 'no one has answered yet' : 'so far:'}`);
  for (const vote of votes) {
    output.line(`  ${sentence(vote, vote.at)}`);
    showComment(vote, output);
  }
}

/** For example `answered by Ada (ada@example.com) through a link, 2026-11-23 14:31, {"decision":"approve"}`. */
function sentence({ by, channel, answer }: Omit<Vote, 'at'>, at: string | null): string {
  const who =
    channel === 'timeout'
      ? 'no one answered in time'
      : `answered by ${partyWords(by)} ${CHANNELS[channel] ?? ''}`.trimEnd();
  const value = answer === undefined ? '' : `, ${cut(JSON.stringify(answer), VALUE_CHARACTERS_MAX)}`;
  return plainText(`${who}, ${timeOf(at)}${value}`);
}

function showComment({ comment = '' }: Pick<Vote, 'comment'>, output: Output): void {
  if (comment === '') return;
  output.line(output.paint('dim', plainText(cut(comment, COMMENT_CHARACTERS_MAX)).replace(/^/gm, '    ')));
}

export function partyWords(by: Party | null): string {
  if (by === null) return 'an application';
  if (by.kind === 'service_key') return `the key ${by.id ?? ''}`.trimEnd();
  const address = by.email ?? by.recipient ?? by.id ?? 'a person';
  return by.name === undefined ? address : `${by.name} (${address})`;
}

function cut(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max)}…` : text;
}
