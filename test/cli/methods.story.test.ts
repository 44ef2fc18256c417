// What people do with methods from the command line: save, meet a conflict, publish, read, compare, make keys. Against
// a local stack, which the command finds by itself.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { person } from '../e2e/people.ts';
import type { Stack } from '../e2e/stack.ts';
import { until } from '../harness/until.ts';
import { commonStack } from './common-stack.ts';
import { type Fate, LossyServer } from './lossy-server.ts';
import { type StackDesk, stackDesk } from './stack-desk.ts';

const source = (title: string, text = 'Hello') => `format: method/2
name: greet
title: ${title}
inputs:
  name: string 1..80
steps:
  - name: compose
    in: [inputs.name]
    node: |
      return { text: '${text} ' + name }
    out: { text: string }
result: { greeting: =steps.compose.text }
`;

interface Saved {
  readonly method_id: string;
  readonly version_id: string;
  readonly created: boolean;
}

let stack: Stack;
let desk: StackDesk;
const methods = (...args: string[]) => desk.folder.quick(args, desk.env);
const json = async <T>(...args: string[]) => (await desk.folder.quickJson<T>(args, desk.env)).document;
const links = async () => JSON.parse(await desk.folder.read('.methods.json')) as Record<string, Record<string, object>>;
const write = (name: string, text: string) => desk.folder.write(name, text);

before(async () => {
  stack = await commonStack();
  desk = await stackDesk(stack);
});
after(async () => {
  await desk?.folder.remove();
});

test('the first save makes a method, later ones versions, and a text that is saved says so', async () => {
  await write('first.method', source('First'));
  const first = await methods('save', 'first.method');
  assert.deepEqual([first.code, first.stderr], [0, '']);
  const [, id, version] = /as the new method wf_(\w{26}), version (ver_\w{26})\./.exec(first.stdout) ?? [];
  const sha256 = createHash('sha256').update(source('First')).digest('hex');
  const linked = { method_id: id, version_id: version, sha256 };
  assert.deepEqual(await links(), { 'first.method': { [stack.ready.base_url]: linked } });
  const same = await methods('save', 'first.method');
  assert.deepEqual([same.code, same.stdout], [0, `Nothing to save: first.method is already ${version} of wf_${id}.\n`]);
  await write('first.method', source('First', 'Good day'));
  const next = await json<Saved>('save', 'first.method', '--reason', 'Politer');
  assert.deepEqual([next.method_id, next.created], [id, true]);
  const { items } = await json<{ items: { version_id: string; reason: string }[] }>('versions', 'first.method');
  assert.deepEqual(
    items.map((each) => [each.version_id, each.reason]),
    [
      [next.version_id, 'Politer'],
      [version, ''],
    ],
  );
});

test('warnings are shown with carets and the text is saved; errors are shown and nothing is', async () => {
  await write('warned.method', source('Warned').replace('inputs:', 'secrets: [NEVER_USED]\ninputs:'));
  const warned = await methods('save', 'warned.method');
  assert.equal(warned.code, 0);
  assert.match(warned.stderr, /^warned\.method:4:\d+ warning M605 .*\n.*NEVER_USED.*\n.*\^+\n/);
  assert.equal(warned.stderr.match(/M605/g)?.length, 1);
  await write('wrong.method', source('Wrong').replace('[inputs.name]', '[inputs.nmae]'));
  const wrong = await methods('save', 'wrong.method');
  assert.equal(wrong.code, 1);
  assert.match(
    wrong.stderr,
    /error M202 [\s\S]*\^\^\^\^[\s\S]*error: wrong\.method has 1 error\nhint: methods check wrong/,
  );
  assert.equal((await links())['wrong.method'], undefined);
  // The server has no interpreters: a save reads such code here.
  for (const [name, code] of [
    ['python', 'return {'],
    ['shell', 'if true; then'],
  ]) {
    await write(`${name}.method`, `format: method/2\nname: ${name}\nsteps:\n  - name: a\n    ${name}: "${code}"\n`);
    const unread = await methods('save', `${name}.method`);
    assert.equal(unread.code, 1, name);
    assert.match(unread.stderr, /error M114 /, name);
    assert.equal((await links())[`${name}.method`], undefined);
  }
});

for (const fate of ['unheard', 'lost', 'broken'] as const) {
  test(`a save whose reply is ${fate} is made once, however often it is repeated`, async (t) => {
    const lossy = await LossyServer.start(stack.ready.base_url);
    const here = await stackDesk(stack, lossy.url);
    t.after(async () => {
      await lossy.stop();
      await here.folder.remove();
    });
    const title = `Reply ${fate}`;
    await here.folder.write('a.method', source(title));
    for (let round = 1; round <= 2; round++) await cutOff(lossy, here, fate, round);
    const made = await here.folder.quickJson<Saved>(['save', 'a.method'], here.env);
    const found = await here.folder.quickJson<{ items: object[] }>(['list', '--search', title], here.env);
    assert.equal(found.document.items.length, 1);
    // The same with a version, and the file is changed before it is repeated.
    await here.folder.write('a.method', source(title, 'Hi'));
    await cutOff(lossy, here, fate, 3);
    await here.folder.write('a.method', source(title, 'Hey'));
    const last = await here.folder.quickJson<Saved>(['save', 'a.method'], here.env);
    assert.deepEqual([last.document.method_id, last.document.created], [made.document.method_id, true]);
    const { document } = await here.folder.quickJson<{ items: object[] }>(['versions', 'a.method'], here.env);
    assert.equal(document.items.length, fate === 'unheard' ? 2 : 3);
    const kept = JSON.parse(await here.folder.read('.methods.json'))['a.method'][lossy.url];
    assert.deepEqual(Object.keys(kept), ['method_id', 'version_id', 'sha256']);
  });
}

/** A save that gets no reply; one that waits for it is killed. */
async function cutOff(lossy: LossyServer, { folder, env }: StackDesk, fate: Fate, count: number): Promise<void> {
  lossy.fate = fate;
  const child = folder.spawn(['save', 'a.method'], env);
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve));
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said += chunk;
  });
  await until('the request is there', () => lossy.unanswered === count);
  if (fate !== 'broken') child.kill('SIGKILL');
  const code = await closed;
  if (fate === 'broken') {
    assert.equal(code, 1);
    assert.match(
      said,
      /^error: the server at \S+ cannot be reached: the connection broke\nhint: .*methods save a\.method/,
    );
  }
  lossy.fate = 'answered';
}

test('a conflict shows who saved what and both changes, and the save continues upon the other version', async () => {
  const bea = await person(stack, { email: 'bea@example.com', role: 'member' });
  const text = source('Shared');
  await write('shared.method', text);
  const base = await json<Saved>('save', 'shared.method');
  const theirs = (
    await bea.request('POST', `/api/cli/methods/${base.method_id}`, {
      body: { workflow: text.replace('1..80', '1..40'), base_version: base.version_id, reason: 'Shorter names' },
    })
  ).read<Saved>();
  await write('shared.method', text.replace('Hello', 'Welcome'));
  const refused = await methods('save', 'shared.method');
  assert.equal(refused.code, 1);
  const said = refused.stderr;
  assert.match(said, new RegExp(`^Bea saved ${theirs.version_id} [-\\d]+ [\\d:]+: "Shorter names"\\.\n`));
  assert.match(
    said,
    /\n\nWhat they changed:\n--- ver_\w+\n\+\+\+ ver_\w+\n@@ [^\n]+\n[^@]*- {2}name: string 1\.\.80\n\+ {2}name: string 1\.\.40\n/,
  );
  assert.match(
    said,
    /\n\nWhat shared\.method changes:\n--- [^@]+@@ [^@]+ @@\n[^@]*- {6}return \{ text: 'Hello ' \+ name \}\n/,
  );
  assert.match(said, new RegExp(`methods source wf_${base.method_id} > shared\\.method`));
  assert.match(said, new RegExp(`hint: .*methods save shared\\.method --onto ${theirs.version_id}\n$`));
  const again = await methods('save', 'shared.method', '--json');
  assert.equal(JSON.parse(again.stderr).error, 'version_conflict');
  // Both changes together, upon theirs.
  await write('shared.method', text.replace('Hello', 'Welcome').replace('1..80', '1..40'));
  const both = await json<Saved>('save', 'shared.method', '--onto', theirs.version_id);
  assert.equal(both.created, true);
  // Or theirs as it is: the file becomes that version without being saved again.
  const third = (
    await bea.request('POST', `/api/cli/methods/${base.method_id}`, {
      body: { workflow: text, base_version: both.version_id, reason: '' },
    })
  ).read<Saved>();
  await write('shared.method', (await methods('source', `wf_${base.method_id}`)).stdout);
  assert.deepEqual(await json<Saved>('save', 'shared.method'), { ...third, created: false, warnings: [] });
});

test('what is published is the version that was saved, and never a file that was changed since', async () => {
  await write('pub.method', source('Published'));
  const missing = await methods('publish', 'pub.method');
  assert.match(missing.stderr, /error: pub\.method has no method on http\S+: .*\nhint: methods save pub\.method\n/);
  const first = await json<Saved>('save', 'pub.method');
  const published = await methods('publish', 'pub.method');
  assert.equal(published.stdout, `Published ${first.version_id} of Published (wf_${first.method_id}).\n`);
  const again = await methods('publish', 'pub.method');
  assert.equal(again.stdout, `${first.version_id} of Published (wf_${first.method_id}) was published already.\n`);
  await write('pub.method', source('Published', 'Hi'));
  const changed = await methods('publish', 'pub.method');
  assert.equal(changed.code, 1);
  assert.match(
    changed.stderr,
    /error: pub\.method was changed after it was saved as ver_\w+\nhint: methods save pub\.method/,
  );
  const next = await json<Saved>('save', 'pub.method');
  await write('pub.method', source('Published', 'Hey'));
  const chosen = await json<{ published_version: string }>('publish', 'pub.method', '--version', next.version_id);
  assert.equal(chosen.published_version, next.version_id);
  const byName = await json<{ published_version: string }>('publish', 'Published', '--version', first.version_id);
  assert.equal(byName.published_version, first.version_id);
  const difference = await methods('diff', 'Published', 'published', 'current');
  assert.match(
    difference.stdout,
    new RegExp(`^--- ${first.version_id}\n\\+\\+\\+ ${next.version_id}\n@@ -7,6 \\+7,6 @@\n`),
  );
  assert.match(
    difference.stdout,
    /\n- {6}return \{ text: 'Hello ' \+ name \}\n\+ {6}return \{ text: 'Hi ' \+ name \}\n/,
  );
  const same = await methods('diff', 'Published', 'current', next.version_id);
  assert.deepEqual([same.code, same.stdout], [0, '']);
});

test('a version comes back byte by byte', async () => {
  const text = `\ufeff${source('A\u0308pfel')}`.replaceAll('\n', '\r\n').replace(/\r\n$/, '');
  await write('bytes.method', text);
  const { method_id: id, version_id: version } = await json<Saved>('save', 'bytes.method');
  const { stdout } = await methods('source', `wf_${id}`, '--version', version);
  assert.equal(stdout, text);
  const shown = await json<{ source: string; version_id: string }>('source', id);
  assert.deepEqual([shown.source, shown.version_id], [text, version]);
});

test('methods are renamed, listed and shown, and named by their whole name', async () => {
  await write('named.method', source('Named'));
  const { method_id: id } = await json<Saved>('save', 'named.method');
  assert.equal((await methods('rename', 'named.method', 'Greet all')).stdout, `wf_${id} is called "Greet all" now.\n`);
  const listed = await methods('list', '--search', 'Greet all');
  assert.match(
    listed.stdout,
    new RegExp(`^ID +STATE +CHANGED +NAME\nwf_${id} +not published +[-\\d]+ [\\d:]+ +Greet all\n$`),
  );
  const shown = await methods('show', 'Greet all');
  assert.match(shown.stdout, new RegExp(`^Greet all\n +id +wf_${id}\n +status +ready\n +format +method/2\n`));
  assert.match(shown.stdout, /\n +inputs +\{\n +name: string;\n +\}\n +result +\{\n +greeting: string;\n +\}\n$/);
  assert.equal((await json<{ id: string }>('show', 'Greet all')).id, id);
  const page = await json<{ items: object[]; next_cursor: string }>('list', '--limit', '1');
  assert.equal(page.items.length, 1);
  const second = await json<{ items: { id: string }[] }>('list', '--limit', '1', '--cursor', page.next_cursor);
  assert.notDeepEqual(second.items, page.items);
  assert.match(
    (await methods('types', 'Greet all')).stdout,
    /^\/\/ Types of wf_\w+, ver_\w+, made by[\s\S]*export type GreetInputs = \{[\s\S]*declare module '@methods\/client' \{\n {2}interface MethodTypes \{\n {4}wf_\w+: \{ inputs: GreetInputs;/,
  );
  assert.match(
    (await methods('types', 'Greet all', '--python')).stdout,
    new RegExp(`\nMETHOD_ID: Final = "wf_${id}"\n`),
  );
  const none = await methods('show', 'Greet a');
  assert.deepEqual([none.code, none.stderr.split('\n')[0]], [1, 'error: there is no method called "Greet a"']);
  await write('twin.method', source('Twin'));
  await write('other-twin.method', source('Twin'));
  for (const file of ['twin.method', 'other-twin.method']) await json('save', file);
  assert.match(
    (await methods('show', 'Twin')).stderr,
    /^error: 2 methods are called "Twin"\nhint: give the id: wf_\w+, wf_\w+\n$/,
  );
});

test('a key is printed once, opens the server until it is revoked, and gets new webhook secrets', async () => {
  const made = await methods('keys', 'create', '--name', 'billing');
  const [, id = ''] = /^Made the key "billing" \((key_\w{26})\)\. This is shown once;/.exec(made.stdout) ?? [];
  const [, key = ''] = /^SERVICE_API_KEY=(sk_\w{43}_\w{49})$/m.exec(made.stdout) ?? [];
  assert.match(made.stdout, /^WEBHOOK_SECRET=whsec_\w{43}$/m);
  assert.equal((await stack.api.as(key).request('GET', '/v1/runs')).status, 200);
  const listed = await methods('keys', 'list');
  assert.match(listed.stdout, new RegExp(`^ID +MADE +BY +USED +NAME\n[\\s\\S]*${id} .* billing\n`));
  assert.equal(listed.stdout.includes('sk_'), false);
  const renewed = await json<{ webhook_secret: string }>('keys', 'webhook-secret', id);
  assert.match(renewed.webhook_secret, /^whsec_\w{43}$/);
  assert.equal(
    (await methods('keys', 'revoke', id)).stdout,
    `Revoked the key "billing" (${id}). Runs started with it continue.\n`,
  );
  // The gateway gets the revocation over the bus.
  await until('the key opens nothing', async () => {
    return (await stack.api.as(key).request('GET', '/v1/runs')).status === 401;
  });
  const whole = await json<{ key: { name: string }; service_key: string; webhook_secret: string }>(
    'keys',
    'create',
    '--name',
    'scripted',
  );
  assert.deepEqual(Object.keys(whole), ['key', 'service_key', 'webhook_secret']);
  const mistaken = await methods('keys', 'revoke', key);
  assert.deepEqual([mistaken.code, mistaken.stderr.includes(key)], [2, false]);
});

test('links that a merge damaged are not ignored', async () => {
  const spoiled = await stackDesk(stack);
  await spoiled.folder.write('a.method', source('Spoiled'));
  await writeFile(join(spoiled.folder.dir, '.methods.json'), '<<<<<<< HEAD\n{}\n');
  const { code, stderr } = await spoiled.folder.quick(['save', 'a.method'], spoiled.env);
  await spoiled.folder.remove();
  assert.equal(code, 1);
  assert.match(stderr, /^error: \S+\.methods\.json does not hold links of methods\nhint: correct it/);
});

test('a recording becomes a method on the server, once, and its draft a linked file', async () => {
  const recording = fileURLToPath(new URL('../../libs/method/src/recording/fixtures/shop-refund.har', import.meta.url));
  const first = await methods('import', recording, '--upload', '-o', 'refund.method', '--name', 'Refund in the shop');
  assert.equal(first.code, 0, first.stderr);
  const [productionId] = first.stdout.split('\n');
  const again = await json<{ created: boolean; method: { production_id: string } }>('import', recording, '--upload');
  assert.deepEqual([again.created, again.method.production_id], [false, productionId]);
  assert.equal((await methods('check', 'refund.method')).code, 0);
  assert.match((await methods('save', 'refund.method')).stdout, /^Nothing to save/);

  await write('broken.har', '<har>');
  const broken = await methods('import', 'broken.har', '--upload');
  assert.deepEqual([broken.code, broken.stdout], [1, '']);
  assert.match(broken.stderr, /^error: The file is not JSON.*\nhint: the recording is kept as wf_/);
});
