import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RunAbort } from './run-abort.ts';

test('calls its listeners once, except those that were removed, and aborts its signal', () => {
  const abort = new RunAbort();
  const called: string[] = [];
  const listener = (name: string) => ({ handleEvent: () => called.push(name) });
  const removed = listener('removed');
  abort.addEventListener('abort', listener('kept'));
  abort.addEventListener('abort', removed);
  abort.removeEventListener('abort', removed);
  const { signal } = abort;
  assert.deepEqual([abort.aborted, signal.aborted], [false, false]);
  abort.abort();
  abort.abort();
  assert.deepEqual([abort.aborted, signal.aborted, called], [true, true, ['kept']]);
});

test('a signal that is asked for after the end is aborted, and always the same one', () => {
  const abort = new RunAbort();
  abort.abort();
  assert.equal(abort.signal.aborted, true);
  assert.equal(abort.signal, abort.signal);
});

test('a listener may remove itself and others while it is called', () => {
  const abort = new RunAbort();
  const called: string[] = [];
  const second = { handleEvent: () => called.push('second') };
  const first = {
    handleEvent: () => {
      called.push('first');
      abort.removeEventListener('abort', first);
      abort.removeEventListener('abort', second);
    },
  };
  abort.addEventListener('abort', first);
  abort.addEventListener('abort', second);
  abort.abort();
  assert.deepEqual(called, ['first']);
});
