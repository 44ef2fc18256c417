import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../checks/command.ts';
import { API_TYPES, apiTypes } from './api-types.ts';

test('the types of the dashboard’s calls are those of the API’s description (npm run generate:api)', async () => {
  assert.equal(readFileSync(join(root, API_TYPES), 'utf8'), await apiTypes());
});
