// Plain paths are read without acorn: both ways give the same tree, and texts that only look like a path are read by
// acorn.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseExpression } from './parse-expression.ts';

test('a plain path has the same tree as the same path that acorn reads', () => {
  for (const path of ['inputs.a', 'steps.switch.new.length', 'out.constructor', 'last.a_1.B2', 'response.body.null']) {
    // A space at the end makes it no plain path and moves no offset.
    assert.deepEqual(parseExpression(path), parseExpression(`${path} `), path);
  }
});

test('a text that is not a path after the first dot is refused as before', () => {
  for (const source of ['inputs.', 'inputs..a', 'inputs.1a', 'steps.a.#b', 'undefined.a', 'this.a']) {
    assert.throws(() => parseExpression(source), { code: /^M40[12]$/ }, source);
  }
});
