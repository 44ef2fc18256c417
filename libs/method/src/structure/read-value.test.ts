// Mistakes that YAML and expressions make together.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codesOf, found, hintOf } from '../compile.fixture.ts';

const http = (fields: string): string =>
  `steps:\n  - name: a\n    http: { post: https://a.example, json: ${fields} }\n`;

test('the hint for an expression cut at its comma inside { } is to quote it', () => {
  const cut = http('{ a: =inputs.ids.slice(0, 2) }');
  assert.deepEqual(found(cut), ['M401 3:68-68']);
  assert.match(hintOf('M401', cut), /in quotes/);
  assert.deepEqual(codesOf(http('{ a: "=inputs.ids.slice(0, 2)" }')), []);
  assert.match(hintOf('M401', http('{ a: =inputs.count +, b: 1 }')), /too early/);
});
