// Plain paths are read without acorn: both ways give the same tree, and what only looks like a path goes the long way.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseExpression } from './parse-expression.ts';

test('a plain path has the same tree as the same path that acorn reads', () => {
  for (const path of ['inputs.a', 'steps.switch.new.length', 'out.constructor', 'last.a_1.B2', 'response.body.null']) {
    // A space at the end makes it no plain path and moves no offset.
    assert.deepEqual(parseExpression(path), parseExpression(`${path} `), path);
  }
});

test('what is no path after the first dot is refused as ever', () => {
  for (const source of ['inputs.', 'inputs..a', 'inputs.1a', 'steps.a.#b', 'undefined.a', 'this.a']) {
    assert.throws(() => parseExpression(source), { code: /^M40[12]$/ }, source);
  }
});
