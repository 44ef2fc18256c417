import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { JsonObject } from '@methods/method/json';
import { CliFolder } from '../cli.fixture.ts';
import { CommandError } from '../errors/command-error.ts';
import type { ServerApi } from '../server/server-api.ts';
import { ServerRefusal } from '../server/server-refusal.ts';
import { RunUpload } from './run-upload.ts';

const dir = await mkdtemp(join(tmpdir(), 'methods-upload-'));
after(() => rm(dir, { recursive: true, force: true }));

interface SentRecord {
  readonly sequence: number;
  readonly inspection: JsonObject;
}

/** `replies`: the reply to each request in turn; later ones succeed. */
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
    ...{ runId: 'run_1', dir, methodId: 'm', versionId: 'ver_1', attempt, lastTriesMs: 2_000 },
    server: 'http://127.0.0.1:1',
    open: async () => ({ send }) as unknown as ServerApi,
    say: (line) => said.push(line),
  });
  return { upload, sent, said };
}

const AWAY = new CommandError('unreachable', 'the server cannot be reached');

test('the last record is sent after an outage, which is printed once, with a higher sequence', async () => {
  const { upload, sent, said } = uploadTo([AWAY, AWAY]);
  equal(await upload.finish({ status: 'succeeded' }), true);
  deepEqual(
    sent.map(({ inspection }) => inspection),
    [{ status: 'succeeded' }],
  );
  equal(said.length, 2, said.join());
  const later = uploadTo([], 2);
  await later.upload.finish({});
  ok((later.sent[0]?.sequence ?? 0) > (sent[0]?.sequence ?? 0), 'a later attempt has higher sequences');
});

test('a refusal is not repeated', async () => {
  const refusal = new ServerRefusal(403, { error: 'forbidden', message: 'Viewers may not do this.' });
  const { upload, sent, said } = uploadTo([refusal]);
  equal(await upload.finish({}), false);
  deepEqual(sent, []);
  deepEqual(said, ['The record of the run was not sent: Viewers may not do this.']);
  deepEqual(await readdir(dir), []);
});

test('nothing is sent after the last record', async () => {
  const { upload, sent } = uploadTo([]);
  upload.changed(() => ({ status: 'running' }));
  await upload.finish({ status: 'succeeded' });
  upload.changed(() => ({ status: 'running' }));
  equal(sent.length, 1);
  equal(sent[0]?.inspection.status, 'succeeded');
});

test('a record that no server took by the end of its run is kept, and sent by --resume --upload', async () => {
  const folder = await CliFolder.make({
    'a.method': 'format: method/2\nname: ab\nsteps:\n  - { name: a, wait: 1ms }\n',
  });
  const taken: { readonly url: string | undefined; readonly body: string }[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    if (request.method === 'PUT') taken.push({ url: request.url, body });
    response.end(JSON.stringify({ machine_audience: null }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    equal((await folder.methods(['run', 'a.method'])).code, 0);
    const [runId = ''] = await folder.runs();
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const said: string[] = [];
    const upload = new RunUpload({
      ...{
        runId,
        dir: join(folder.dir, '.methods', 'runs', runId),
        server: address,
        methodId: 'm',
        versionId: 'ver_1',
      },
      ...{ attempt: 1, lastTriesMs: 0, say: (line: string) => said.push(line) },
      open: () => Promise.reject(AWAY),
    });
    equal(await upload.finish({ status: 'succeeded' }), false);
    const resend = ['run', '--resume', runId, '--upload'];
    match(said.join('\n'), new RegExp(`methods ${resend.join(' ')} --server ${address}$`));
    const kept = join(folder.dir, '.methods', 'runs', runId, 'unsent.json');
    equal((await stat(kept)).mode & 0o777, 0o600);

    const whole = await readFile(kept, 'utf8');
    await writeFile(kept, whole.replace(address, `${address}/;date`));
    const forged = await folder.methods(['run', '--resume', runId]);
    deepEqual([forged.code, forged.stderr.includes(';date')], [1, false]);
    match(forged.stderr, /does not hold the record/);
    await writeFile(kept, whole);

    const elsewhere = await folder.methods([...resend, '--server', 'http://127.0.0.1:1']);
    deepEqual([elsewhere.code, taken.length], [1, 0]);
    match(elsewhere.stderr, /is for http/);
    const sent = await folder.methods([...resend, '--server', address]);
    deepEqual([sent.code, sent.stderr], [0, '']);
    deepEqual(
      taken.map(({ url, body }) => [url, JSON.parse(body)]),
      [
        [
          `/api/cli/runs/${runId}`,
          { workflow_id: 'm', version_id: 'ver_1', sequence: 1_000_001, inspection: { status: 'succeeded' } },
        ],
      ],
    );
    const again = await folder.methods([...resend, '--server', address]);
    deepEqual([again.code, taken.length], [1, 1]);
    match(again.stderr, /has already succeeded/);
  } finally {
    server.close();
    server.closeAllConnections();
    await folder.remove();
  }
});
