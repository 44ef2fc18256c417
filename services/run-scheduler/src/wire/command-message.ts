// Converts the commands of people and applications to messages between nodes and back.
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { RunCommandSchema } from '@methods/proto/event/v1/event_pb';
import type { AnswerRun, AssignQuestion, CancelRun, DelegateQuestion } from '../run/run-command.ts';
import { channelName, channelNumber, partyMessage, partyOf } from './question-message.ts';

export type PublicCommand = AnswerRun | AssignQuestion | CancelRun | DelegateQuestion;
export type RunCommandInit = MessageInitShape<typeof RunCommandSchema>;

export function commandMessage(command: PublicCommand): NonNullable<RunCommandInit['command']> {
  switch (command.type) {
    case 'cancel':
      return { case: 'cancel', value: {} };
    case 'answer': {
      const { questionId, answerJson, digest, by, channel, comment } = command;
      const sender = { ...(by && { actor: partyMessage(by) }), channel: channelNumber(channel), comment };
      return {
        case: 'answer',
        value: { questionId: questionId ?? '', answerJson, digest: Buffer.from(digest, 'hex'), ...sender },
      };
    }
    case 'assign_question': {
      const { questionId, by, assignee } = command;
      const given = assignee && { assignee: partyMessage(assignee) };
      return { case: 'assign', value: { questionId, by: partyMessage(by), ...given } };
    }
    case 'delegate_question': {
      const { questionId, by, to } = command;
      return { case: 'delegate', value: { questionId, by: partyMessage(by), to: partyMessage(to) } };
    }
  }
}

/** Returns the domain's command of a message, or null for one that this build does not know. */
export function commandOf(command: RunCommandInit['command']): PublicCommand | null {
  switch (command?.case) {
    case 'cancel':
      return { type: 'cancel' };
    case 'answer':
      return answerOf(command.value);
    case 'assign': {
      const { questionId, by, assignee } = command.value;
      const doer = partyOf(by);
      if (doer === null || !questionId) return null;
      return { type: 'assign_question', questionId, by: doer, assignee: partyOf(assignee) };
    }
    case 'delegate': {
      const { questionId, by, to } = command.value;
      const [doer, delegate] = [partyOf(by), partyOf(to)];
      if (doer === null || delegate === null || !questionId) return null;
      return { type: 'delegate_question', questionId, by: doer, to: delegate };
    }
    default:
      return null;
  }
}

function answerOf(answer: Extract<NonNullable<RunCommandInit['command']>, { case: 'answer' }>['value']): AnswerRun {
  const { questionId = '', answerJson = '', digest = new Uint8Array(), channel, comment = '' } = answer;
  return {
    type: 'answer',
    questionId: questionId === '' ? null : questionId,
    answerJson,
    digest: Buffer.from(digest).toString('hex'),
    by: partyOf(answer.actor),
    channel: channel === undefined ? null : channelName(channel),
    comment,
  };
}
