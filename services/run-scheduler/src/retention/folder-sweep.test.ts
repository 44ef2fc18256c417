import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '@methods/logging/logger';
import type { FolderPlace } from '../store/run-folder-store.ts';
import { FolderSweep } from './folder-sweep.ts';

test('a sweep that fails is logged, and the next one continues at its position', async () => {
  const lines: string[] = [];
  const logger = createLogger({ name: 'test', destination: { write: (line) => lines.push(line) } });
  const begun: number[] = [];
  let failures = 1;
  const folders = {
    async sweep(after: FolderPlace) {
      begun.push(after.createdAtMs);
      if (after.createdAtMs === 2 && failures-- > 0) throw new Error('canceling statement due to statement timeout');
      const place = { ...after, createdAtMs: after.createdAtMs + 1 };
      return { lookedAt: 500, removed: 1, place, more: place.createdAtMs < 4 };
    },
  };
  const sweep = new FolderSweep({ folders, files: { sweep: async () => false }, logger });
  await sweep.sweep();
  assert.match(lines.join(''), /run folders could not be swept/);
  await Promise.all([sweep.sweep(), sweep.sweep()]);
  assert.deepEqual(begun, [0, 1, 2, 2, 3]);
});
