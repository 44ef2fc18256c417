// A question as the answer page shows it, with a field of every kind.
import type { OrgId, QuestionId, RunId } from '@methods/base/ids';
import type { JsonSchema } from '@methods/method/json';
import type { AskedQuestion, PageVisitor } from '../routes/answer-page/asked-question.ts';

const ORDER = {
  number: 'ord_7f3',
  customer: 'Grace Hopper',
  total: 250,
  currency: 'EUR',
  paid: true,
};

const LINES = Array.from({ length: 30 }, (_, n) => ({ item: `Notebook ${n + 1}`, pieces: n + 1, price: 4.5 }));

const REFUND_FORM: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['decision'],
  properties: {
    decision: { enum: ['approve', 'reject'], title: 'Decision' },
    note: { type: 'string', 'x-widget': 'textarea', title: 'Note', description: 'The customer does not see it.' },
  },
};

export const EVERY_CONTROL: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['decision', 'amount', 'sure'],
  properties: {
    decision: { enum: ['approve', 'reject', 'ask_again'] },
    amount: { type: 'number', minimum: 0, maximum: 250, title: 'Amount in EUR' },
    sure: { type: 'boolean', title: 'Is the customer informed?' },
    reason: { type: 'string', 'x-widget': 'textarea' },
    reference: { type: 'string', minLength: 3, maxLength: 20 },
    pay_on: { type: 'string', format: 'date' },
    call_at: { type: 'string', format: 'date-time' },
    mail: { type: 'string', format: 'email' },
    country: { enum: ['at', 'be', 'ch', 'de', 'dk', 'es', 'fi', 'fr', 'it', 'nl', 'no', 'pl', 'se'] },
    teams: { type: 'array', items: { enum: ['sales', 'support', 'finance'] }, default: ['support'] },
    tags: { type: 'array', items: { type: 'string' }, maxItems: 3 },
    lines: {
      type: 'array',
      title: 'Lines',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['item'],
        properties: { item: { type: 'string', minLength: 1 }, amount: { type: 'number', default: 1 } },
      },
    },
    address: {
      type: 'object',
      additionalProperties: false,
      required: ['city'],
      properties: { city: { type: 'string', minLength: 1 }, street: { type: 'string' } },
    },
    extra: { type: 'object', title: 'Anything else' },
  },
};

export function askedQuestion(changes: Partial<AskedQuestion> = {}): AskedQuestion {
  return {
    orgId: 'org_0123456789abcdefghjkmnpqrs' as OrgId,
    runId: 'run_0123456789abcdefghjkmnpqrs' as RunId,
    questionId: 'q_0123456789abcdefghjkmnpqrs' as QuestionId,
    orgName: 'Acme',
    methodName: 'approve-refund',
    timeZone: 'Europe/Berlin',
    step: 'approval',
    prompt: 'Refund 250 EUR to ord_7f3?',
    details: 'The parcel came back on Friday.\nThe customer wants the money on the same card.',
    show: [
      { path: 'steps.order', valueJson: JSON.stringify(ORDER) },
      { path: 'steps.lines', valueJson: JSON.stringify(LINES) },
      { path: 'inputs.message', valueJson: JSON.stringify('Please send my money back. '.repeat(150)) },
    ],
    formJson: JSON.stringify(REFUND_FORM),
    deadlineAtMs: Date.UTC(2026, 10, 24, 15, 0),
    timeoutAnswerJson: '',
    state: 'open',
    closedAtMs: 0,
    needs: 0,
    votes: [],
    takesComment: true,
    refusal: null,
    receipt: null,
    ...changes,
  };
}

export const RECIPIENT: PageVisitor = { name: 'ada@acme.example', linkRecipient: 'ada@acme.example', state: 'open' };
