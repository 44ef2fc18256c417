import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actWords, passedOverWords } from './bulk.ts';

test('a change says what it will do in numbers, and what it passes over', () => {
  assert.equal(actWords('cancel', 1_204), 'Cancel 1,204 runs');
  assert.equal(actWords('rerun_failed_step', 1), 'Rerun 1 run from the failed step');
  assert.equal(passedOverWords('finished', 37), '37 runs are passed over: they have finished already.');
  assert.equal(passedOverWords('finished', 1), '1 run is passed over: it has finished already.');
  assert.equal(passedOverWords('later', 2), '2 runs are passed over: they later.');
});
