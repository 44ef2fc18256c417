import { deepEqual, equal, rejects } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { nodeArguments } from '@methods/built-code/node-arguments';
import { SHOP_HAR } from '../../test/recordings.fixture.ts';
import { processCompiler } from './recording-compiler.ts';

const never = new AbortController().signal;

/** The request for a recording that arrives in pieces. */
function recorded(bytes: Uint8Array, name = '', pieceBytes = Math.ceil(bytes.length / 2)) {
  async function* parts() {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
  }
  return { parts: parts(), sizeBytes: bytes.length, name };
}

// As many brackets, commas and colons as may be parsed.
const MARKS = 4_900_000;
const large = () => Buffer.from(`{"log":{"entries":[${'0,'.repeat(MARKS)}0]}}`);

describe('the compiler of recordings', { timeout: 300_000 }, () => {
  test('a recording that needs more memory or time than allowed ends only its own process', async () => {
    const poor = processCompiler({ heapMibMax: 32 });
    // The maximum of numbers sometimes fits.
    const objects = Buffer.from(`{"log":{"entries":[${'{},'.repeat(MARKS / 3)}0]}}`);
    deepEqual(await poor.compile(recorded(objects), never), { kind: 'too_much_memory' });
    const hasty = processCompiler({ timeMaxMs: 1 });
    deepEqual(await hasty.compile(recorded(large()), never), { kind: 'too_long' });
    equal((await processCompiler().compile(recorded(SHOP_HAR), never)).kind, 'drafted');
  });

  test('a recording of many pieces leaves no listeners behind', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => void warnings.push(warning);
    process.on('warning', onWarning);
    await processCompiler({ timeMaxMs: 1 }).compile(recorded(large(), '', 1 << 17), never);
    await new Promise(setImmediate);
    process.off('warning', onWarning);
    deepEqual(warnings, []);
  });

  test('it is aborted when the registry stops', async () => {
    const stop = new AbortController();
    const compiling = processCompiler().compile(recorded(large()), stop.signal);
    stop.abort(new Error('stops'));
    await rejects(compiling, /stops/);
    await rejects(processCompiler().compile(recorded(large()), stop.signal), /stops/);
  });

  test('its process ends at its deadline even if the registry that began it has died', async () => {
    const body = new URL('./compile-process.ts', import.meta.url);
    const child = spawn(process.execPath, nodeArguments(body), {
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const recording = large();
    child.stdin.write(`${JSON.stringify({ name: '', sizeBytes: recording.length, timeMaxMs: 1 })}\n`);
    child.stdin.end(recording);
    deepEqual(await once(child, 'exit'), [null, 'SIGKILL']);
  });

  test('a given name becomes the draft’s name', async () => {
    const compiled = await processCompiler().compile(recorded(SHOP_HAR, 'Refund it'), never);
    equal(compiled.kind === 'drafted' && /^name: refund-it$/m.test(compiled.source), true);
  });
});
