// The replies about questions, and the words for who may answer one.
import type { operations } from '../api/gen/openapi.ts';

type Reply<Name extends 'listInbox' | 'getQuestion' | 'countInbox'> =
  operations[Name]['responses'][200]['content']['application/json'];

export type InboxPage = Reply<'listInbox'>;
export type InboxItem = InboxPage['items'][number];
export type InboxCounts = Reply<'countInbox'>;
export type WholeQuestion = Reply<'getQuestion'>;
type Asked = NonNullable<WholeQuestion['question']>;
export type OpenQuestion = Exclude<Asked, { sealed: unknown }>;
type Receipt = NonNullable<WholeQuestion['receipt']>;
export type Party = Receipt['by'];

/** Null: the question's content is on the organization's devices, or no longer kept. */
export function contentOf({ question }: WholeQuestion): OpenQuestion | null {
  return question === undefined || 'sealed' in question ? null : question;
}

export function partyName(party: Party): string {
  if (party === null) return 'someone';
  if (party.kind === 'link') {
    const to = party.recipient ?? party.email ?? '';
    if (to === '') return 'someone with the link';
    return to.includes('@') ? `the link sent to ${to}` : `the message in ${to}`;
  }
  return party.name || party.email || party.id || 'someone';
}

const REFUSALS: Readonly<Record<string, string>> = {
  viewer: 'Viewers answer only questions that name them. Ask a member.',
  starter: 'The method excludes the person who started the run. Ask another member.',
  not_named: 'The method lets other people answer it. Ask one of them.',
  voted: 'You have answered it already through a link, which answers once.',
  program: 'Only people may answer it.',
};

/** Why the viewer may not answer an open question; null: they may. */
export function refusalWords({ state, may_answer, refusal }: WholeQuestion): string | null {
  if (state !== 'open' || may_answer !== false) return null;
  return REFUSALS[refusal ?? 'not_named'] ?? 'Other people answer it. Ask one of them.';
}

const CHANNELS: Readonly<Record<string, string>> = {
  api: 'by the API',
  cli: 'on the command line',
  inbox: 'in the Inbox',
  link: 'through a link',
  chat: 'through a chat',
  handler: 'by the application',
  mcp: 'through an agent',
  timeout: 'at the deadline',
};

export function channelWords(channel: string): string {
  return CHANNELS[channel] ?? '';
}
