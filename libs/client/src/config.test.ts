import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readSurroundings } from './config.ts';

test('the environment wins over .env, which is not needed', () => {
  const dir = mkdtempSync(join(tmpdir(), 'methods-client-'));
  const file = join(dir, '.env');
  try {
    const nothing = readSurroundings({ HOME: '/ada' }, file);
    assert.deepEqual(nothing, { apiKey: undefined, server: undefined, stateDir: '/ada/.local/state' });
    writeFileSync(file, 'SERVICE_API_KEY="of the file"\nMETHODS_SERVER=http://file.test\n');
    assert.deepEqual(readSurroundings({ SERVICE_API_KEY: 'of the environment', XDG_STATE_HOME: '/state' }, file), {
      apiKey: 'of the environment',
      server: 'http://file.test',
      stateDir: '/state',
    });
  } finally {
    rmSync(dir, { recursive: true });
  }
});
