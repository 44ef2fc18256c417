import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CliFolder, ended, printed } from '@methods/cli/cli.fixture';
import { guardAgainstParentDeath } from '@methods/local-stack/embedded/server-process';
import { NO_SIGN_IN, type StackFolder, stackFolder } from '../e2e/stack-process.ts';
import { type TestPostgres, testPostgres } from '../harness/postgres.ts';

/** The packed command has no stack. */
const CHECKOUT = fileURLToPath(new URL('../../libs/cli/bin/methods.mjs', import.meta.url));

describe('methods dev', () => {
  let desk: CliFolder;
  let stack: StackFolder;
  let database: Awaited<ReturnType<TestPostgres['freshDatabase']>>;
  before(async () => {
    stack = stackFolder('dev');
    database = await (await testPostgres()).freshDatabase();
    desk = await CliFolder.make();
  });
  after(async () => {
    await desk.remove();
    stack.remove();
    await database.drop();
  });

  test('starts the local stack, which other commands find, and stops it when it is interrupted', async (t) => {
    const env = { XDG_STATE_HOME: stack.stateDir, METHODS_TOKEN_STORE: 'file', ...NO_SIGN_IN };
    const given = { ...env, POSTGRES_URL: database.url };
    const options = ['--data-dir', stack.dataDir, '--port', '0', '--workers', '0'];
    const child = desk.spawn(['dev', '--json', '--', ...options], given, { command: CHECKOUT });
    // A stack that runs on would keep the test's process until the runner's deadline.
    t.after(() => child.kill('SIGINT'));
    // An interrupted run of the tests calls no hooks.
    const guard = guardAgainstParentDeath({ pid: child.pid ?? 0, marker: stack.dataDir });
    child.once('exit', () => guard.serverEnded());
    const end = ended(child);
    await printed(child, '"ready":true');
    const doctor = await desk.methods(['runs', 'list'], env);
    assert.equal(doctor.code, 0, doctor.stderr);
    child.kill('SIGINT');
    const { code, stdout } = await end;
    assert.equal(code, 130);
    assert.equal(stdout.trimEnd().split('\n').length, 1, 'one JSON document on stdout');
    assert.equal(JSON.parse(stdout).data_dir, stack.dataDir);
    assert.equal(existsSync(join(stack.dataDir, 'stack.lock')), false, 'the stack has stopped in order');
    const nobody = await desk.methods(['runs', 'list'], env);
    assert.match(nobody.stderr, /^error: no server is known\n/);
  });

  test('a wrong option of the stack is a wrong command line', async () => {
    const { code, stderr } = await ended(desk.spawn(['dev', '--', '--prot', '1'], {}, { command: CHECKOUT }));
    assert.equal(code, 2);
    assert.match(stderr, /--prot/);
  });
});
