// Converts the people and programs that start and answer runs to their messages and back, and channels to their numbers.
import type { MessageInitShape } from '@bufbuild/protobuf';
import { type Actor, type ActorSchema, AnswerChannel } from '@methods/proto/run/v1/run_pb';
import { type Channel, isRole, type Party } from '../run/party.ts';

const CHANNEL = {
  api: AnswerChannel.API,
  cli: AnswerChannel.CLI,
  inbox: AnswerChannel.INBOX,
  link: AnswerChannel.LINK,
  chat: AnswerChannel.CHAT,
  handler: AnswerChannel.HANDLER,
  mcp: AnswerChannel.MCP,
  timeout: AnswerChannel.TIMEOUT,
} as const satisfies Record<Channel, AnswerChannel>;

/** Null: there is none, or it names no one. */
export function partyOf(actor: MessageInitShape<typeof ActorSchema> | undefined): Party | null {
  const { personId = '', keyId = '', email = '', name = '', role = '', linkRecipient = '', client = '' } = actor ?? {};
  if (personId === '' && keyId === '' && email === '' && linkRecipient === '') return null;
  return {
    personId,
    keyId,
    email,
    name,
    role: isRole(role) ? role : '',
    linkRecipient,
    ...(client !== '' && { client }),
  };
}

export function partyMessage(party: Party): Omit<Actor, '$typeName' | '$unknown'> {
  return { client: '', ...party };
}

export function channelNumber(channel: Channel | null): AnswerChannel {
  return channel === null ? AnswerChannel.UNSPECIFIED : CHANNEL[channel];
}

/** Null for an unknown channel. No sender answers for a time-out. */
export function channelName(number: AnswerChannel): Exclude<Channel, 'timeout'> | null {
  for (const [name, known] of Object.entries(CHANNEL)) {
    if (known === number && name !== 'timeout') return name as Exclude<Channel, 'timeout'>;
  }
  return null;
}
