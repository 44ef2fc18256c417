// What runs are made of: the files they read, the servers they call, the secrets they use, the webhooks they send; on one
// running stack, with waits between redeliveries short enough to be seen through.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { until } from '../harness/until.ts';
import { commonStack } from './common-stack.ts';
import { fileInputs } from './content/file-inputs.ts';
import { httpSteps } from './content/http-steps.ts';
import { language } from './content/language.ts';
import { questions } from './content/questions.ts';
import { secrets } from './content/secrets.ts';
import { webhooks } from './content/webhooks.ts';
import type { Stack } from './stack.ts';
import { filesHolding } from './stored-traces.ts';

describe('the content of runs', () => {
  let running: Stack | undefined;
  const stack = () => {
    assert.ok(running, 'the stack did not start');
    return running;
  };
  before(async () => {
    running = await commonStack();
  });

  language(stack);
  questions(stack);
  httpSteps(stack);
  fileInputs(stack);
  secrets(stack);
  webhooks(stack);

  test('no key, no webhook secret and nothing that runs hold is in a log, even at the level debug', async () => {
    const content = 'canary-of-the-inputs';
    const run = await stack().api.startSettled({ method: stack().method('greet'), inputs: { name: content } });
    assert.match(String(run.result?.greeting), new RegExp(content));
    const { api_key: key, webhook_secret: webhookSecret, data_dir: folder } = stack().ready;
    const [, authSecret = ''] = /^sk_([^_]+)/.exec(key) ?? [];
    const isLog = (path: string) => path.endsWith('/log');
    await until('the logs name the run', () => filesHolding(folder, [run.run_id], isLog).length > 0);
    assert.deepEqual(filesHolding(folder, [content, authSecret, webhookSecret], isLog), []);
  });
});
