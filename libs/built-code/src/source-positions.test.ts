import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { tempFolder } from '@methods/test/harness/temp-folder';
import { build } from 'esbuild';
import { type Position, positionsFile, sourcePositions } from './source-positions.ts';

test('positions agree with those that Node reports', async () => {
  const folder = tempFolder('source-positions');
  try {
    const file = join(folder, 'built.mjs');
    await build({
      entryPoints: [fileURLToPath(new URL('./build-code.ts', import.meta.url))],
      ...{ outfile: file, bundle: true, packages: 'external', format: 'esm', sourcemap: 'linked' },
    });
    const lines = readFileSync(file, 'utf8').split('\n');
    const positions: Position[] = lines.flatMap((text, i) =>
      [1, 7, text.length].map((column) => ({ line: i + 1, column: Math.max(1, column) })),
    );
    const text = readFileSync(`${file}.map`, 'utf8');
    writeFileSync(`${file}.positions`, positionsFile(text));
    const map = new SourceMap(JSON.parse(text));
    const expected = positions.map(({ line, column }) => {
      const entry = map.findEntry(line - 1, column - 1);
      if (!('generatedLine' in entry) || entry.generatedLine !== line - 1) return null;
      // Code that esbuild added.
      if (entry.originalSource === undefined) return null;
      return { source: entry.originalSource, line: entry.originalLine + 1, column: entry.originalColumn + 1 };
    });
    assert.ok(expected.filter((each) => each !== null).length > 100);
    assert.deepEqual(sourcePositions(`${file}.positions`, positions), expected);
    // Each on its own, from the last line to the first, and lines that are not there.
    for (const [i, position] of [...positions.entries()].reverse()) {
      if (i % 50 === 0) assert.deepEqual(sourcePositions(`${file}.positions`, [position]), [expected[i]]);
    }
    const beyond = [lines.length + 1, lines.length + 1_000].map((line) => ({ line, column: 1 }));
    assert.deepEqual(sourcePositions(`${file}.positions`, beyond), [null, null]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
