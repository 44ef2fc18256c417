// Keys against their table: unknown ones, foreign words, and those of the language that are not built yet.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Findings } from '../source/findings.ts';
import { readYaml } from '../source/read-yaml.ts';
import { SourceText } from '../source/source-text.ts';
import { checkKeys } from './check-keys.ts';
import type { KeyTable } from './keys.ts';

const TABLE: KeyTable = {
  what: 'a cup',
  keys: ['size', 'color'],
  later: new Set(['lid']),
  foreign: new Map([['volume', 'size']]),
  extensible: true,
};

test('a key that is not built yet is not an unknown one (M113, M101)', () => {
  const findings = new Findings(new SourceText('size: 1\nlid: 2\nvolume: 3\ncolr: 4\nx-note: 5\n'));
  const map = readYaml(findings);
  assert.ok(map);
  checkKeys(findings, map, TABLE, 'cup');
  assert.deepEqual(
    findings.all.map(({ code, path, line, hint }) => [code, path, line, hint]),
    [
      ['M113', 'cup.lid', 2, 'remove it'],
      ['M101', 'cup.volume', 3, 'did you mean "size"?'],
      ['M101', 'cup.colr', 4, 'did you mean "color"?'],
    ],
  );
});
