// The main job across two gateways and three run-schedulers.
import { before, describe } from 'node:test';
import { batches } from './requests/batches.ts';
import { oneRun } from './requests/one-run.ts';
import { commonStack } from './several-nodes.ts';
import type { Stack } from './stack.ts';

oneRun('started on one gateway, read and answered on another, with three run-schedulers', commonStack);

describe('with three run-schedulers', () => {
  let running: Stack;
  before(async () => {
    running = await commonStack();
  });
  batches(() => running);
});
