import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@methods/method/json';
import { CommandError } from '../command/command-error.ts';
import type { ServerApi } from '../server/server-api.ts';
import { ServerRefusal } from '../server/server-refusal.ts';
import { RunUpload } from './run-upload.ts';

interface SentRecord {
  readonly sequence: number;
  readonly inspection: JsonObject;
}

/** `replies`: what each request meets in turn; after them all arrive. */
function uploadTo(replies: readonly (Error | null)[], attempt = 1) {
  const sent: SentRecord[] = [];
  const said: string[] = [];
  const left = [...replies];
  const send = async (_verb: string, _path: string, body: SentRecord) => {
    const fault = left.shift();
    if (fault) throw fault;
    sent.push(body);
  };
  const upload = new RunUpload({
    ...{ runId: 'run_1', methodId: 'm', versionId: 'ver_1', attempt, lastTriesMs: 2_000 },
    open: async () => ({ send }) as unknown as ServerApi,
    say: (line) => said.push(line),
  });
  return { upload, sent, said };
}

const AWAY = new CommandError('unreachable', 'the server cannot be reached');

test('the last record follows a server that was away, said once, with a higher sequence', async () => {
  const { upload, sent, said } = uploadTo([AWAY, AWAY]);
  equal(await upload.finish({ status: 'succeeded' }), true);
  deepEqual(
    sent.map(({ inspection }) => inspection),
    [{ status: 'succeeded' }],
  );
  equal(said.length, 2, said.join());
  const later = uploadTo([], 2);
  await later.upload.finish({});
  ok((later.sent[0]?.sequence ?? 0) > (sent[0]?.sequence ?? 0), 'a later attempt stands above');
});

test('a refusal is not repeated', async () => {
  const refusal = new ServerRefusal(403, { error: 'forbidden', message: 'Viewers may not do this.' });
  const { upload, sent, said } = uploadTo([refusal]);
  equal(await upload.finish({}), false);
  deepEqual(sent, []);
  deepEqual(said, ['The record of the run was not sent: Viewers may not do this.']);
});

test('nothing is sent behind the last record', async () => {
  const { upload, sent } = uploadTo([]);
  upload.changed(() => ({ status: 'running' }));
  await upload.finish({ status: 'succeeded' });
  upload.changed(() => ({ status: 'running' }));
  equal(sent.length, 1);
  equal(sent[0]?.inspection.status, 'succeeded');
});
