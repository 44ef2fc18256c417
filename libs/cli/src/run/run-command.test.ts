import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { CliFolder, ended, printed } from '../cli.fixture.ts';

interface RunDocument {
  readonly run_id: string;
  readonly status: string;
  readonly result: unknown;
  readonly error: { readonly code: string; readonly step?: string } | null;
  readonly question: { readonly step: string; readonly prompt: string } | null;
  readonly folder: string;
  readonly inspection: { readonly format: string; readonly actions: readonly { readonly path: string }[] };
}

const folders: CliFolder[] = [];
after(() => Promise.all(folders.map((folder) => folder.remove())));

async function folderWith(files: Readonly<Record<string, string>>): Promise<CliFolder> {
  const folder = await CliFolder.make(files);
  folders.push(folder);
  return folder;
}

interface TestEvent {
  readonly [field: string]: unknown;
}

function eventsIn(lines: string): TestEvent[] {
  return lines
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as TestEvent);
}

const PAY = `format: method/2
name: pay
inputs: { amount: number 0.01.., who: string = Ann }
steps:
  - name: fee
    in: [inputs.amount]
    node: |
      step.log('a fee of a tenth')
      step.check('the fee is small', amount < 1000, { level: 'warn' })
      return { fee: amount / 10 }
    out: { fee: number }
  - name: approval
    if: inputs.amount > 100
    ask: Pay \${inputs.amount} to \${inputs.who}?
    out: { decision: [approve, reject] }
  - name: sums
    in: { amount: =inputs.amount, fee: =steps.fee.fee }
    node: "return { total: amount + fee }"
    out: { total: number }
result: { total: =steps.sums.total, decision: =steps.approval?.decision }
`;

test('a run prints its steps, its result and its folder, and keeps everything there', async () => {
  const folder = await folderWith({ 'pay.method': PAY });
  const { code, stdout, stderr } = await folder.methods(['run', 'pay.method', '--inputs', '{"amount": 20}']);
  equal(stderr, '');
  equal(code, 0);
  const [runId = ''] = await folder.runs();
  match(stdout, /a fee of a tenth\nsucceeded fee/);
  match(stdout, /passed the fee is small/);
  match(stdout, /skipped {3}approval if was false/);
  match(stdout, /\n\{\n {2}"total": 22,\n {2}"decision": null\n\}\nRun folder: \.methods\/runs\/run_/);
  const run = `.methods/runs/${runId}`;
  equal(await folder.read(`${run}/method`), PAY);
  deepEqual(JSON.parse(await folder.read(`${run}/inputs.json`)), { amount: 20, who: 'Ann' });
  deepEqual(JSON.parse(await folder.read(`${run}/result.json`)), { total: 22, decision: null });
  deepEqual(JSON.parse(await folder.read(`${run}/steps/fee/out.json`)), { fee: 2 });
  deepEqual(JSON.parse(await folder.read(`${run}/steps/fee/in.json`)), { amount: 20 });
  deepEqual(
    eventsIn(await folder.read(`${run}/steps/fee/events.ndjson`)).map(
      ({ t, message, name }) => message ?? `${t} ${name}`,
    ),
    ['a fee of a tenth', 'check the fee is small'],
  );
  const record = JSON.parse(await folder.read(`${run}/run.json`)) as { run_id: string; status: string };
  deepEqual([record.run_id, record.status], [runId, 'succeeded']);
});

test('with --json there is one document on stdout, with the inspection', async () => {
  const folder = await folderWith({ 'pay.method': PAY });
  const { code, document, stderr } = await folder.json<RunDocument>([
    'run',
    'pay.method',
    '--inputs',
    '{"amount": 20}',
  ]);
  deepEqual([code, stderr, document.status, document.result], [0, '', 'succeeded', { total: 22, decision: null }]);
  equal(document.inspection.format, 'inspection/1');
  deepEqual(
    document.inspection.actions.map(({ path }) => path),
    ['fee', 'approval', 'sums'],
  );
  equal(document.folder, `${folder.dir}/.methods/runs/${document.run_id}`);
});

test('with --quiet only the result is printed', async () => {
  const folder = await folderWith({ 'pay.method': PAY });
  const { stdout } = await folder.methods(['run', 'pay.method', '--inputs', '{"amount": 20}', '--quiet']);
  deepEqual(JSON.parse(stdout), { total: 22, decision: null });
});

test('inputs that do not fit are all named, and there is no run', async () => {
  const folder = await folderWith({ 'pay.method': PAY });
  const { code, stderr } = await folder.methods(['run', 'pay.method', '--inputs', '{"amont": 20}']);
  equal(code, 1);
  match(stderr, /^error: the inputs do not fit: .*amount is required/);
  match(stderr, /did you mean "amount"/);
  deepEqual(await folder.runs(), []);
});

test('unavailable dependencies are reported before there is a run', async () => {
  const folder = await folderWith({
    'needs.method':
      'format: method/2\nname: needs\ndependencies: { commands: [no-such-command] }\nsteps:\n  - { name: a, wait: 1ms }\n',
  });
  const { code, stderr } = await folder.methods(['run', 'needs.method']);
  equal(code, 1);
  match(stderr, /^error: needs cannot run here: The command no-such-command is not on/);
  deepEqual(await folder.runs(), []);
});

test('inputs come from a file, and what is no JSON is wrong usage', async () => {
  const folder = await folderWith({ 'pay.method': PAY, 'inputs.json': '{"amount": 30}' });
  const { document } = await folder.json<RunDocument>(['run', 'pay.method', '--inputs', '@inputs.json']);
  deepEqual(document.result, { total: 33, decision: null });
  const { code, stderr } = await folder.methods(['run', 'pay.method', '--inputs', 'amount=30']);
  equal(code, 2);
  match(stderr, /^error: --inputs is not JSON/);
});

test('a question waits with exit code 4, and the answer continues the run', async () => {
  const folder = await folderWith({ 'pay.method': PAY });
  const { code, document } = await folder.json<RunDocument>(['run', 'pay.method', '--inputs', '{"amount": 200}']);
  deepEqual([code, document.status, document.question?.prompt], [4, 'waiting', 'Pay 200 to Ann?']);
  const { run_id } = document;
  const shown = await folder.methods(['answer', run_id]);
  equal(shown.code, 4);
  match(shown.stdout, /Pay 200 to Ann\?\n {2}decision: approve or reject/);
  const unfit = await folder.methods(['answer', run_id, '--answer', '{"decision": "no"}']);
  equal(unfit.code, 1);
  match(unfit.stderr, /decision must be one of "approve", "reject"/);
  const answered = await folder.json<RunDocument>(['answer', run_id, '--answer', '{"decision": "approve"}']);
  deepEqual([answered.code, answered.document.result], [0, { total: 220, decision: 'approve' }]);
  const again = await folder.methods(['answer', run_id, '--answer', '{"decision": "approve"}']);
  equal(again.code, 1);
  match(again.stderr, /has already succeeded/);
});

test('--human answers by step, and a name that asks nothing is reported before the run', async () => {
  const files = { 'pay.method': PAY, 'yes.yaml': 'approval: { decision: reject }', 'typo.json': '{"aproval": {}}' };
  const folder = await folderWith(files);
  const args = ['run', 'pay.method', '--inputs', '{"amount": 200}', '--human'];
  const { code, document } = await folder.json<RunDocument>([...args, 'yes.yaml']);
  deepEqual([code, document.result], [0, { total: 220, decision: 'reject' }]);
  const typo = await folder.methods([...args, 'typo.json']);
  equal(typo.code, 2);
  match(typo.stderr, /did you mean "approval"\?/);
  equal((await folder.runs()).length, 1);
});

test('missing secrets are all named before the first step', async () => {
  const method = `format: method/2
name: secretive
secrets: { SHOP_TOKEN: Shop API, CHAT_TOKEN: Chat }
steps:
  - name: show
    secrets: [SHOP_TOKEN, CHAT_TOKEN]
    node: console.log(process.env.SHOP_TOKEN, process.env.CHAT_TOKEN)
`;
  const folder = await folderWith({ 'secretive.method': method });
  const missing = await folder.methods(['run', 'secretive.method']);
  equal(missing.code, 1);
  match(missing.stderr, /^error: the secrets SHOP_TOKEN \(Shop API\), CHAT_TOKEN \(Chat\) are not set/);
  const env = { SHOP_TOKEN: 'shop-token-1', CHAT_TOKEN: 'chat-token-2' };
  const given = await folder.methods(['run', 'secretive.method'], env);
  equal(given.code, 0);
  match(given.stdout, /\*\*\*SHOP_TOKEN\*\*\* \*\*\*CHAT_TOKEN\*\*\*/);
});

test('a failed step ends the run with exit code 1 and its message', async () => {
  const method = `format: method/2
name: broken
steps:
  - name: fall
    node: throw new Error('the shop is closed')
`;
  const folder = await folderWith({ 'broken.method': method });
  const { code, stderr } = await folder.methods(['run', 'broken.method']);
  equal(code, 1);
  match(stderr, /^error: step fall failed: .*the shop is closed/);
  const { document } = await folder.json<RunDocument>(['run', 'broken.method']);
  deepEqual([document.status, document.error?.step], ['failed', 'fall']);
});

const CALLER = `format: method/2
name: caller
steps:
  - name: inner
    call: ./callee.method
    in: { n: 4 }
    out: { doubled: number }
result: { doubled: =steps.inner.doubled }
`;
const CALLEE = `format: method/2
name: callee
inputs: { n: number }
steps:
  - name: twice
    in: [inputs.n]
    node: "return { n: n * 2 }"
    out: { n: number }
result: { doubled: =steps.twice.n }
`;

test('a called file runs inside the run', async () => {
  const folder = await folderWith({ 'caller.method': CALLER, 'callee.method': CALLEE });
  const { code, document, stderr } = await folder.json<RunDocument>(['run', 'caller.method']);
  deepEqual([code, document.result, stderr], [0, { doubled: 8 }, '']);
  ok(document.inspection.actions.some(({ path }) => path === 'inner/twice'));
});

test('a wait is awaited, even if nothing else runs meanwhile', async () => {
  const method = `format: method/2
name: waits
steps:
  - name: pause
    wait: 300ms
`;
  const folder = await folderWith({ 'waits.method': method });
  const { code, document } = await folder.json<RunDocument>(['run', 'waits.method']);
  deepEqual([code, document.status], [0, 'succeeded']);
});

/** Steps see no files of this machine, but they have its network. */
class Gate {
  readonly passed: string[] = [];
  private readonly held: ServerResponse[] = [];
  private isOpen = false;
  private readonly server = createServer((request, response) => {
    this.passed.push(request.url ?? '');
    if (this.isOpen || request.url !== '/second') response.end('{}');
    else this.held.push(response);
  });

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    gates.push(this);
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  open(): void {
    this.isOpen = true;
    for (const response of this.held.splice(0)) response.end('{}');
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

const gates: Gate[] = [];
after(() => {
  for (const gate of gates) gate.close();
});

async function slowFolder(): Promise<{ folder: CliFolder; gate: Gate }> {
  const gate = new Gate();
  const url = await gate.listen();
  const folder = await folderWith({
    'slow.method': `format: method/2
name: slow
steps:
  - name: first
    node: |
      await fetch('${url}/first')
      return { n: 1 }
    out: { n: number }
  - name: second
    node: |
      console.log('second begins')
      await fetch('${url}/second')
result: { n: =steps.first.n }
`,
  });
  return { folder, gate };
}

test('a killed run resumes where it was, and keeps the finished steps', async () => {
  const { folder, gate } = await slowFolder();
  const child = folder.spawn(['run', 'slow.method']);
  const end = ended(child);
  await printed(child, 'second begins');
  child.kill('SIGKILL');
  equal((await end).code, null);
  const [runId = ''] = await folder.runs();
  const notWaiting = await folder.methods(['answer', runId]);
  equal(notWaiting.code, 1);
  match(notWaiting.stderr, /hint: methods run --resume run_/);
  gate.open();
  const { code, document } = await folder.json<RunDocument>(['run', '--resume', runId]);
  deepEqual([code, document.status, document.result], [0, 'succeeded', { n: 1 }]);
  deepEqual(
    gate.passed.filter((url) => url === '/first'),
    ['/first'],
  );
});

test('Ctrl-C ends the step and the command with 130, and says how to continue', async () => {
  const { folder } = await slowFolder();
  const child = folder.spawn(['run', 'slow.method']);
  const end = ended(child);
  await printed(child, 'second begins');
  child.kill('SIGINT');
  const { code, stderr } = await end;
  equal(code, 130);
  match(stderr, /continue with: {2}methods run --resume run_/);
});

test('a run that another process works on is refused', async () => {
  const { folder, gate } = await slowFolder();
  const child = folder.spawn(['run', 'slow.method']);
  const end = ended(child);
  await printed(child, 'second begins');
  const [runId = ''] = await folder.runs();
  const { code, stderr } = await folder.methods(['run', '--resume', runId]);
  equal(code, 1);
  match(stderr, new RegExp(`^error: the process ${child.pid} works on ${runId}`));
  gate.open();
  equal((await end).code, 0);
});
