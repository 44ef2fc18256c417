// docs/webhooks.md is walked as its reader walks it, beside a running stack: its commands are typed and print what it
// shows, and its check of a signature accepts what this service sends.
import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { commandsOf } from '../docs/console-blocks.ts';
import { fencedBlocks } from '../docs/fenced-blocks.ts';
import type { Stack } from '../e2e/stack.ts';
import { until } from '../harness/until.ts';
import { documents } from '../tidy/source-files.ts';
import { commonStack } from './common-stack.ts';
import { type StackDesk, stackDesk } from './stack-desk.ts';

type IsSigned = (rawBody: Buffer, header: unknown, secret: string) => boolean;

const COMMANDS = 4;
const EXAMPLE_ID = /\bep_01k[0-9a-z]{23}\b/g;
const EXAMPLE = 'ep_of_the_example';

const page = documents.find(({ path }) => path === 'docs/webhooks.md') ?? { path: '', text: '' };
const blocks = fencedBlocks(page);
const received: { headers: IncomingHttpHeaders; raw: Buffer }[] = [];
const receiver = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    received.push({ headers: request.headers, raw: Buffer.concat(chunks) });
    response.writeHead(204).end();
  });
});
let stack: Stack;
let desk: StackDesk;

before(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  stack = await commonStack();
  desk = await stackDesk(stack);
});
after(async () => {
  await desk?.folder.remove();
  receiver.closeAllConnections();
  receiver.close();
});

const methods = (...args: string[]) => desk.folder.quick(args, desk.env);

test('every command of the guide to webhooks prints what the guide says', async () => {
  const made: string[] = [];
  let count = 0;
  for (const { command, told, at } of blocks.filter(({ info }) => info === 'console').flatMap(commandsOf)) {
    count++;
    const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
    assert.deepEqual(words.slice(0, 2), ['npx', 'methods'], `${at}: ${command}`);
    const args = words.slice(2).map((word) => word.replace(EXAMPLE_ID, made[0] ?? word));
    const { code, stdout, stderr } = await methods(...args);
    assert.equal(code, 0, `${at}: ${command}\n${stderr}`);
    const id = /\bep_\w{26}/.exec(stdout)?.[0];
    if (args[1] === 'create') made.push(id ?? assert.fail(stdout));
    const shown = stdout.replaceAll(id ?? ' ', EXAMPLE).replace(/whsec_\w{43}/, 'whsec_…');
    if (told !== '') assert.equal(shown, told.replace(EXAMPLE_ID, EXAMPLE), `${at}: ${command}`);
  }
  assert.equal(count, COMMANDS);
  for (const id of made) assert.equal((await methods('endpoints', 'delete', id)).code, 0);
});

test('the check of signatures in the guide takes what is sent, also while a secret is rotated, and nothing else', async () => {
  const [{ text = '' } = {}, ...others] = blocks.filter(({ info }) => info === 'js');
  assert.deepEqual(others, []);
  const module = `data:text/javascript,${encodeURIComponent(`${text}\nexport { isSigned };`)}`;
  const { isSigned } = (await import(module)) as { isSigned: IsSigned };
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/guide`;
  const { stdout } = await methods('endpoints', 'create', '--name', 'Guide', '--url', url, '--event', 'cancelled');
  const id = /\bep_\w{26}/.exec(stdout)?.[0] ?? '';
  const rotated = await methods('endpoints', 'rotate', id, '--overlap', '2h');
  const [first = '', second = ''] = [stdout, rotated.stdout].map((each) => /whsec_\w{43}/.exec(each)?.[0]);
  const signatures = ({ headers }: (typeof received)[number]) =>
    String(headers['service-signature']).split(',v1=').length;
  const request = await until('a webhook with both signatures', async () => {
    const run = await stack.api.startSettled({ method: stack.method('two-questions') });
    await stack.api.cancel(run.run_id);
    return received.find((each) => signatures(each) === 3);
  });
  const header = request.headers['service-signature'];
  assert.deepEqual(
    [first, second, 'whsec_other'].map((secret) => isSigned(request.raw, header, secret)),
    [true, true, false],
  );
  assert.equal(isSigned(Buffer.concat([request.raw, Buffer.from(' ')]), header, second), false);
  for (const wrong of [undefined, '', 't=1,v1=', `${header},v1=`, String(header).replace(/t=\d+/, 't=1')])
    assert.equal(isSigned(request.raw, wrong, second), false, wrong);
  assert.equal((await methods('endpoints', 'delete', id)).code, 0);
});
