// The shapes of the routes of questions: requests are checked against them, and the API's description is made of them.

import { AnyQuestion, Party, Receipt } from '@methods/api/question';
import { Type } from 'typebox';
import { REFUSAL_NAMES, type RefusalName, STATE_NAMES } from '../../views/inbox-view.ts';
import { PageFields } from '../page-query.ts';
import { Finding } from '../reply-schemas.ts';
import { AnswerRunBody } from '../runs/run-schemas.ts';

const Closed = { additionalProperties: false } as const;
const Time = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' });
const TextOrNull = Type.Unsafe<string | null>({ type: ['string', 'null'] });
const Flag = (description: string) => Type.Unsafe<'true'>({ type: 'string', enum: ['true'], description });
/** An address has at most 320 characters. */
const Who = Type.String({
  minLength: 1,
  maxLength: 320,
  description: 'usr_…, the verified address of a member, or "me".',
});

export const QuestionParams = Type.Object({ id: Type.String({ description: 'A question id, q_…' }) });

const Answerers = ['team', 'application', 'all'] as const;
const AnswerBy = Type.Unsafe<(typeof Answerers)[number]>({
  type: 'string',
  enum: [...Answerers],
  description:
    'Whose questions: those for the team (default), those that applications answer, or all. What only people may ' +
    'answer is for the team.',
});

export const InboxQuery = Type.Object(
  {
    ...PageFields,
    mine: Type.Optional(Flag('Given to the caller, or asked of their verified address only.')),
    unassigned: Type.Optional(Flag('Given to no one.')),
    assignee: Type.Optional(Type.String({ minLength: 1, maxLength: 320, description: 'usr_…, an address, or "me".' })),
    method: Type.Optional(Type.String({ maxLength: 64, description: 'A method id, wf_… or bare.' })),
    due_before: Type.Optional(
      Type.String({ maxLength: 64, description: 'RFC 3339; due earlier than this. The first due comes first then.' }),
    ),
    answer_by: Type.Optional(AnswerBy),
  },
  Closed,
);

const itemFields = {
  id: Type.String({ description: 'q_…' }),
  run_id: Type.String(),
  method: Type.String({ description: 'wf_…' }),
  version_id: Type.String(),
  step: Type.String(),
  prompt: Type.String({ description: 'Its first 500 characters.' }),
  state: Type.Unsafe<string>({ type: 'string', enum: STATE_NAMES }),
  answer_by: Type.Unsafe<string>({ type: 'string', enum: ['team', 'application'] }),
  asked_at: Time,
  deadline_at: Time,
  closed_at: Type.Optional(Time),
  assignee: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'usr_…, or the one address that is asked.',
  }),
  to: Type.Optional(Type.Array(Type.String())),
  not_starter: Type.Optional(Type.Boolean()),
  needs: Type.Optional(Type.Integer({ description: 'So many different people have to give the same answer.' })),
  votes_given: Type.Optional(Type.Integer({ description: 'With needs: people who have answered.' })),
  on_device: Type.Optional(
    Type.Boolean({
      description: 'The run is in device mode: only programs with its content key read and answer the question.',
    }),
  ),
  may_answer: Type.Optional(
    Type.Boolean({
      description: 'An answer of the caller would count. Absent: a part of an earlier release is running.',
    }),
  ),
  refusal: Type.Optional(
    Type.Unsafe<RefusalName>({
      type: 'string',
      enum: REFUSAL_NAMES,
      description:
        'Why it would not. viewer: a viewer whom the question does not name; starter: the caller started the run; ' +
        'not_named: the question names other people; voted: the caller has answered through a link, which answers ' +
        'once; closed: it is no longer open; program: only people may answer.',
    }),
  ),
  warnings: Type.Optional(
    Type.Array(Finding, { description: 'too_few_people: fewer members may answer than are needed.' }),
  ),
};

export const InboxItem = Type.Object(itemFields);
export const InboxPage = Type.Object({ items: Type.Array(InboxItem), next_cursor: TextOrNull });

export const WholeQuestion = Type.Object({
  ...itemFields,
  metadata: Type.Unsafe<Record<string, string>>({ type: 'object', description: 'Of its run.' }),
  starter: Party,
  question: Type.Optional(AnyQuestion),
  receipt: Type.Optional(Receipt),
});

const Count = Type.Object({
  count: Type.Integer({ description: 'At most 1,000.' }),
  more: Type.Boolean({ description: 'There are more than these.' }),
});
export const InboxCounts = Type.Object({
  team: Count,
  mine: Count,
  unassigned: Count,
  due_soon: Count,
  application: Count,
});

export const AssignBody = Type.Object(
  {
    assignee: Type.Unsafe<string | null>({
      ...{ type: ['string', 'null'], minLength: 1, maxLength: 320 },
      description: 'usr_…, the verified address of a member, or "me"; null: no one.',
    }),
  },
  Closed,
);

export const DelegateBody = Type.Object({ to: Who }, Closed);

const { question_id: _, ...answer } = AnswerRunBody.properties;
export const AnswerQuestionBody = Type.Object(answer, Closed);
