// A check that has not found a planted fault is not believed: each sentence of the checks is provoked here once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkExecutions } from './check-executions.ts';
import { checkLives } from './check-lives.ts';
import { checkWebhooks } from './check-webhooks.ts';
import type { Execution, History, Life, Operation, ReceivedWebhook, SeenRun } from './history.ts';

const RUN = 'run_00000000000000000000000000';
const DONE: SeenRun = {
  runId: RUN,
  status: 'succeeded',
  attempts: 1,
  result: '{"n":3}',
  errorCode: null,
  questionId: null,
};

let clockMs = 0;
function operation(kind: Operation['kind'], run: Partial<SeenRun> | null, httpStatus = 200): Operation {
  const invokedMs = ++clockMs;
  return { kind, invokedMs, repliedMs: ++clockMs, httpStatus, run: run === null ? null : { ...DONE, ...run } };
}

function life(kind: Life['kind'], operations: Operation[], more: Partial<Life> = {}): Life {
  return { kind, webhookPath: null, answer: null, operations, wrong: [], ...more };
}

function history(parts: Partial<History>): History {
  return { lives: [], executions: [], recorded: [], notBeforeMs: new Map(), webhooks: [], ...parts };
}

const lives: Readonly<Record<string, [Life, RegExp | null]>> = {
  'a run that succeeds': [life('worked', [operation('start', { status: 'queued' }), operation('read', {})]), null],
  'a run that never ends': [life('worked', [operation('start', { status: 'queued' })]), /is queued at the end/],
  'a wrong result': [life('worked', [operation('read', { result: '{"n":2}' })]), /ended as succeeded/],
  'a failure without a reason': [
    life('worked', [operation('read', { status: 'failed', result: null, errorCode: 'step_failed' })]),
    /ended as failed step_failed/,
  ],
  'attempts exhausted after three': [
    life('worked', [
      operation('read', { status: 'failed', result: null, errorCode: 'attempts_exhausted', attempts: 3 }),
    ]),
    null,
  ],
  'attempts exhausted after two': [
    life('worked', [
      operation('read', { status: 'failed', result: null, errorCode: 'attempts_exhausted', attempts: 2 }),
    ]),
    /exhausted after 2/,
  ],
  'a fourth attempt': [life('worked', [operation('read', { attempts: 4 })]), /made 4 attempts/],
  'attempts that go back': [
    life('worked', [operation('read', { status: 'running', attempts: 2, result: null }), operation('read', {})]),
    /went back to 1 attempts/,
  ],
  'two runs of one key': [
    life('twins', [operation('start', {}), operation('start', { runId: RUN.replace(/0$/, '1') })]),
    /one key made several runs/,
  ],
  'an end that changes': [
    life('cancelled', [
      operation('cancel', { status: 'cancelled', result: null }),
      operation('read', { status: 'succeeded' }),
    ]),
    /was seen as .* and later as/,
  ],
  'a read that goes back': [
    life('worked', [
      operation('read', {}),
      operation('read', { status: 'running', result: null }),
      operation('read', {}),
    ]),
    /was seen as .* and later as/,
  ],
  'a cancel that was accepted and forgotten': [
    life('cancelled', [operation('cancel', { status: 'running', result: null }, 202), operation('read', {})]),
    /ended as succeeded/,
  ],
  'a cancel that came too late': [life('cancelled', [operation('cancel', null, 409), operation('read', {})]), null],
  'another answer than the accepted one': [
    life('asked', [operation('answer', { status: 'queued', result: null }), operation('read', { result: '{"n":8}' })], {
      answer: 7,
    }),
    /ended as succeeded/,
  ],
  'an accepted answer and a passed deadline': [
    life(
      'raced',
      [
        operation('answer', { status: 'queued', result: null }),
        operation('read', { status: 'failed', result: null, errorCode: 'no_answer' }),
      ],
      { answer: 7 },
    ),
    /ended as failed no_answer/,
  ],
  'a deadline that never fires': [
    life('unanswered', [operation('read', { status: 'waiting', result: null })]),
    /is waiting/,
  ],
  'a reply that no client may see': [life('worked', [], { wrong: ['GET: 500'] }), /500/],
};

for (const [name, [seen, finding]] of Object.entries(lives)) {
  test(`${name} is ${finding === null ? 'allowed' : 'found'}`, () => {
    const found = checkLives(history({ lives: [seen] }));
    if (finding === null) assert.deepEqual(found, []);
    else assert.match(found.join('\n'), finding);
  });
}

function execution(step: string, workerPid: number, beganMs: number, endedMs: number | null): Execution {
  return { runId: RUN, step, workerPid, beganMs, endedMs };
}

const once = [life('worked', [operation('read', {})])];
const twice = [life('worked', [operation('read', { attempts: 2 })])];

test('two workers at one attempt at a time are found', () => {
  const executions = [execution('first', 1, 0, 100), execution('second', 2, 50, 60)];
  assert.match(checkExecutions(history({ lives: once, executions })).join(), /second began while first ran elsewhere/);
});

test('a worker that lost its lease may work on for a while', () => {
  const executions = [execution('first', 1, 0, 100), execution('first', 2, 50, 60)];
  assert.deepEqual(checkExecutions(history({ lives: twice, executions })), []);
});

test('a finished step that runs again in the same attempt is found', () => {
  const executions = [execution('first', 1, 0, 10), execution('first', 2, 20, 30)];
  assert.match(checkExecutions(history({ lives: once, executions })).join(), /ran again after its end/);
});

test('a recorded step that runs in a younger worker is found', () => {
  const executions = [execution('first', 1, 0, 10), execution('first', 2, 900, 910)];
  const recorded = [{ runId: RUN, step: 'first', recordedMs: 11 }];
  const seen = { lives: twice, executions, recorded };
  assert.match(
    checkExecutions(history({ ...seen, notBeforeMs: new Map([[2, 500]]) })).join(),
    /younger than its record/,
  );
  assert.deepEqual(checkExecutions(history({ ...seen, notBeforeMs: new Map([[2, 5]]) })), []);
});

function webhook(event: string, seq: number, more: Partial<ReceivedWebhook> = {}): ReceivedWebhook {
  const deliveryId = `dlv_${seq}`;
  return { path: '/1', runId: RUN, event, seq, deliveryId, bodySha256: `${seq}`, signed: true, status: 204, ...more };
}

const listening = [life('worked', [operation('read', {})], { webhookPath: '/1' })];
const webhooks: Readonly<Record<string, [ReceivedWebhook[], RegExp | null]>> = {
  'an event that came, the second time too': [
    [webhook('succeeded', 5, { status: 500 }), webhook('succeeded', 5)],
    null,
  ],
  'an event that never came': [[], /succeeded was never delivered/],
  'an event that was only refused': [[webhook('succeeded', 5, { status: 500 })], /never delivered/],
  'events out of order': [[webhook('succeeded', 5), webhook('needs_input', 3)], /event 3 was first sent after event 5/],
  'a body that changes': [
    [webhook('succeeded', 5, { status: 500 }), webhook('succeeded', 5, { bodySha256: 'x' })],
    /changed/,
  ],
  'two deliveries of one event': [
    [webhook('succeeded', 5), webhook('succeeded', 5, { deliveryId: 'dlv_x' })],
    /two deliveries/,
  ],
  'an unsigned webhook': [[webhook('succeeded', 5, { signed: false })], /not signed/],
};

for (const [name, [received, finding]] of Object.entries(webhooks)) {
  test(`${name}: ${finding === null ? 'allowed' : 'found'}`, () => {
    const found = checkWebhooks(history({ lives: listening, webhooks: received }));
    if (finding === null) assert.deepEqual(found, []);
    else assert.match(found.join('\n'), finding);
  });
}
