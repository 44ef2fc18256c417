import { deepEqual, equal, rejects } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SHOP_HAR } from '../../test/recordings.ts';
import { processCompiler } from './recording-compiler.ts';

const never = new AbortController().signal;
// As many values as may be parsed.
const large = () => Buffer.from(`{"log":{"entries":[${'0,'.repeat(4_900_000)}0]}}`);

describe('the compiler of recordings', { timeout: 60_000 }, () => {
  test('a recording that needs more memory or time than it may have ends alone', async () => {
    const poor = processCompiler({ heapMibMax: 32 });
    deepEqual(await poor.compile({ bytes: large(), name: '' }, never), { kind: 'too_much_memory' });
    const hasty = processCompiler({ timeMaxMs: 1 });
    deepEqual(await hasty.compile({ bytes: large(), name: '' }, never), { kind: 'too_long' });
    equal((await processCompiler().compile({ bytes: new Uint8Array(SHOP_HAR), name: '' }, never)).kind, 'drafted');
  });

  test('it is given up when the registry stops', async () => {
    const stop = new AbortController();
    const compiling = processCompiler().compile({ bytes: large(), name: '' }, stop.signal);
    stop.abort(new Error('stops'));
    await rejects(compiling, /stops/);
    await rejects(processCompiler().compile({ bytes: large(), name: '' }, stop.signal), /stops/);
  });

  test('the name that is given becomes the draft’s', async () => {
    const compiled = await processCompiler().compile({ bytes: new Uint8Array(SHOP_HAR), name: 'Refund it' }, never);
    equal(compiled.kind === 'drafted' && /^name: refund-it$/m.test(compiled.source), true);
  });
});
