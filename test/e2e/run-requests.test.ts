// What the public interface takes, and what it refuses, on one running stack.
import assert from 'node:assert/strict';
import { before, describe } from 'node:test';
import { commonStack } from './common-stack.ts';
import { answerPage } from './requests/answer-page.ts';
import { answers } from './requests/answers.ts';
import { batches } from './requests/batches.ts';
import { callers } from './requests/callers.ts';
import { cancels } from './requests/cancels.ts';
import { costlyValues } from './requests/costly-values.ts';
import { description } from './requests/description.ts';
import { framing } from './requests/framing.ts';
import { idempotency } from './requests/idempotency.ts';
import { lists } from './requests/lists.ts';
import { organizationEvents } from './requests/organization-events.ts';
import { refusedStarts } from './requests/refused-starts.ts';
import { reruns } from './requests/reruns.ts';
import { runEvents } from './requests/run-events.ts';
import { sizes } from './requests/sizes.ts';
import type { Stack } from './stack.ts';

describe('requests', () => {
  let running: Stack | undefined;
  const stack = () => {
    assert.ok(running, 'the stack did not start');
    return running;
  };
  before(async () => {
    running = await commonStack();
  });

  idempotency(stack);
  batches(stack);
  refusedStarts(stack);
  framing(stack);
  callers(stack);
  answers(stack);
  answerPage(stack);
  cancels(stack);
  reruns(stack);
  runEvents(stack);
  organizationEvents(stack);
  lists(stack);
  sizes(stack);
  costlyValues(stack);
  description(stack);
});
