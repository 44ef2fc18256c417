import { deepEqual, equal, rejects } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SHOP_HAR } from '../../test/recordings.ts';
import { threadCompiler } from './recording-compiler.ts';

const never = new AbortController().signal;
const large = () => Buffer.from(`{"log":{"entries":[${'[],'.repeat(6_000_000)}[]]}}`);

describe('the compiler of recordings', { timeout: 60_000 }, () => {
  test('a recording that needs more memory or time than it may have ends alone', async () => {
    const poor = threadCompiler({ heapMibMax: 32 });
    deepEqual(await poor.compile({ bytes: large(), name: '' }, never), { kind: 'too_much_memory' });
    const hasty = threadCompiler({ timeMaxMs: 1 });
    deepEqual(await hasty.compile({ bytes: large(), name: '' }, never), { kind: 'too_long' });
    equal((await threadCompiler().compile({ bytes: new Uint8Array(SHOP_HAR), name: '' }, never)).kind, 'drafted');
  });

  test('it is given up when the registry stops', async () => {
    const stop = new AbortController();
    const compiling = threadCompiler().compile({ bytes: large(), name: '' }, stop.signal);
    stop.abort(new Error('stops'));
    await rejects(compiling, /stops/);
    await rejects(threadCompiler().compile({ bytes: large(), name: '' }, stop.signal), /stops/);
  });

  test('the name that is given becomes the draft’s', async () => {
    const compiled = await threadCompiler().compile({ bytes: new Uint8Array(SHOP_HAR), name: 'Refund it' }, never);
    equal(compiled.kind === 'drafted' && /^name: refund-it$/m.test(compiled.source), true);
  });
});
