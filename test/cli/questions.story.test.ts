// docs/questions.md is walked as its reader walks it, beside a running stack: files are written as shown, commands are
// typed, and their output must be the text below them. A worker that is started stays. Before a block of `console mailed`
// the question of the last run is answered by the link in its mail.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { commandsOf } from '../docs/console-blocks.ts';
import { fencedBlocks } from '../docs/fenced-blocks.ts';
import type { ApiClient } from '../e2e/api-client.ts';
import { answerByLink, mailedLink } from '../e2e/mailed-question.ts';
import { person } from '../e2e/people.ts';
import type { Stack } from '../e2e/stack.ts';
import { documents } from '../tidy/source-files.ts';
import { commonStack } from './common-stack.ts';
import { type StackDesk, stackDesk } from './stack-desk.ts';
import { StartedWorker } from './started-worker.ts';

const COMMANDS_MIN = 10;
const WORKER = 'npx methods worker ';

const page = documents.find(({ path }) => path === 'docs/questions.md') ?? { path: '', text: '' };
const workers: StartedWorker[] = [];
const ids = { RUN_ID: '', QUESTION_ID: '' };
let stack: Stack;
let desk: StackDesk;
let admin: ApiClient;

before(async () => {
  stack = await commonStack();
  desk = await stackDesk(stack);
  admin = await person(stack, { email: 'admin@questions.example', role: 'admin' });
});
after(async () => {
  for (const worker of workers) worker.signal('SIGKILL');
  await desk?.folder.remove();
});

/** As the guide writes it: ids by their names, and one time for all. */
function shown(text: string): string {
  ids.RUN_ID = /run_\w{26}/.exec(text)?.[0] ?? ids.RUN_ID;
  ids.QUESTION_ID = /q_\w{26}/.exec(text)?.[0] ?? ids.QUESTION_ID;
  return text
    .replace(/run_\w{26}/g, 'RUN_ID')
    .replace(/\bq_\w{26}/g, 'QUESTION_ID')
    .replace(/\b(wf|ver)_\w{26}/g, '$1_…')
    .replace(/\b(\d+ min )?\d+(\.\d+)? m?s\b/g, '0.1 s')
    .replace(/\b20\d\d-\d\d-\d\d \d\d:\d\d\b/g, '2026-11-23 14:31')
    .replace(/ +$/gm, '')
    .replace(/^(?:ID|QUESTION_ID) .*$/gm, (line) => line.replace(/ {2,}/g, '  '));
}

async function typed(command: string): Promise<string> {
  const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
  const args = words.map((word) => word.replace(/^\$(\w+)$/, (_, name: keyof typeof ids) => ids[name]));
  assert.deepEqual(args.slice(0, 2), ['npx', 'methods'], command);
  const { stdout, stderr } = await desk.folder.quick(args.slice(2), desk.env);
  return shown(stdout + stderr);
}

/** Runs what makes an endpoint, and takes it away: its host is another's. */
async function made(command: string): Promise<void> {
  const env = { PATH: process.env.PATH ?? '', BASE_URL: admin.baseUrl, TOKEN: admin.apiKey };
  const { stdout } = await promisify(execFile)('bash', ['-c', command], { env });
  const { endpoint } = JSON.parse(stdout) as { endpoint: { id: string; format: string } };
  assert.equal(endpoint.format, 'slack', stdout);
  assert.ok((await admin.request('DELETE', `/api/endpoints/${endpoint.id}`)).status < 300);
}

async function answeredByMail(): Promise<void> {
  const { question } = (await stack.api.get(ids.RUN_ID)).run;
  const link = await mailedLink(stack.ready.mail_url ?? '', question?.prompt ?? ids.RUN_ID);
  assert.match(await answerByLink(link, { '/decision': '"approve"' }), /Sent: /);
  await stack.api.settled(ids.RUN_ID);
}

test('every command of the guide to questions prints what the guide says', async () => {
  let count = 0;
  for (const block of fencedBlocks(page)) {
    const [, file] = /^yaml (\S+)$/.exec(block.info) ?? [];
    if (file !== undefined) await desk.folder.write(file, block.text);
    else if (block.info === 'console' || block.info === 'console mailed') {
      if (block.info === 'console mailed') await answeredByMail();
      for (const { command, told, at } of commandsOf(block)) {
        count++;
        if (command.startsWith(WORKER)) {
          const worker = new StartedWorker(desk, ...command.slice(WORKER.length).split(' '));
          workers.push(worker);
          await worker.says('it is ready', ({ event }) => event === 'ready');
        } else assert.equal(await typed(command), told, `${at}: ${command}`);
      }
    } else if (block.info === 'sh') await made(block.text);
    else assert.fail(`${block.at}: nothing looks at a block fenced as ${block.info}`);
  }
  assert.ok(count >= COMMANDS_MIN, `only ${count} commands were typed`);
});
