import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { positionsFile } from '@methods/built-code/source-positions';
import { type Call, type CpuProfile, callsOf } from './cpu-profile.ts';
import { flameGraph } from './flame-graph.ts';
import { kindsOf } from './kinds.ts';

const frame = (functionName: string, url = '') => ({ functionName, url, lineNumber: 9, columnNumber: 0 });
const PROFILE: CpuProfile = {
  nodes: [
    { id: 1, callFrame: frame('(root)'), children: [2, 3, 4, 8] },
    { id: 2, callFrame: frame('(idle)') },
    { id: 3, callFrame: frame('(garbage collector)') },
    { id: 4, callFrame: frame('begin', 'file:///p/services/run-scheduler/src/actor/committer.ts'), children: [5] },
    { id: 5, callFrame: frame('write', 'file:///p/node_modules/postgres/src/connection.js'), children: [6] },
    { id: 6, callFrame: frame('writeGeneric', 'node:internal/stream_base_commons'), children: [7] },
    { id: 7, callFrame: frame('writeBuffer') },
    { id: 8, callFrame: frame('onread', 'node:internal/stream_base_commons') },
  ],
  samples: [2, 3, 4, 5, 7, 7, 8],
  timeDeltas: [1_000, 200, 300, 50, 30, 20, 5],
};

test('time counts for the kind of work that asked for it, and idle time for none', () => {
  assert.deepEqual(Object.fromEntries(kindsOf(callsOf(PROFILE))), { GC: 200, 'own code': 300, Postgres: 100, Node: 5 });
});

test('built code is led back to its sources', () => {
  const folder = mkdtempSync(join(tmpdir(), 'methods-profile-'));
  try {
    const piece = join(folder, 'piece.mjs');
    const map = { version: 3, sources: ['../libs/base/src/ids.ts'], mappings: ';EACA' };
    writeFileSync(`${piece}.positions`, positionsFile(JSON.stringify(map)));
    const callFrame = { functionName: 'f', url: pathToFileURL(piece).href, lineNumber: 1, columnNumber: 2 };
    const root = callsOf({ nodes: [{ id: 1, callFrame }], samples: [1], timeDeltas: [1] });
    assert.deepEqual([root.source, root.line, root.selfUs], ['libs/base/src/ids.ts', 2, 1]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a flame graph has a box for each call that is wide enough, as wide as its time', () => {
  const svg = flameGraph('a <b> & c', callsOf(PROFILE));
  assert.ok(svg.startsWith('<svg ') && svg.endsWith('</svg>\n'));
  assert.match(svg, /a &lt;b&gt; &amp; c, 0\.00 s of CPU/);
  assert.match(svg, /<title>begin services\/run-scheduler\/src\/actor\/committer\.ts:10, 0 ms, 66\.1 %<\/title>/);
  assert.doesNotMatch(svg, /idle/);
  const widths = [...svg.matchAll(/<title>([^ ,]+)[^<]*<\/title><rect [^>]*width="([\d.]+)"/g)].map(([, name, w]) => [
    name,
    w,
  ]);
  assert.deepEqual(Object.fromEntries(widths), {
    '(root)': '1600.0',
    begin: '1057.9',
    write: '264.5',
    writeGeneric: '132.2',
    writeBuffer: '132.2',
    '(garbage': '528.9',
    onread: '13.2',
  });
});

test('calls of one function by one caller are one box', () => {
  const leaf = (selfUs: number): Call => ({ name: 'f', source: 'libs/a.ts', line: 1, selfUs, calls: [] });
  const svg = flameGraph('x', { name: '(root)', source: '', line: 0, selfUs: 0, calls: [leaf(30), leaf(70)] });
  assert.equal([...svg.matchAll(/<title>f /g)].length, 1);
});
