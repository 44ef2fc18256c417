import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@methods/base/clock';
import { GREETING } from '../testing/api-fixture.ts';
import { SourceInterfaces } from './source-interfaces.ts';

test('a source is compiled once, however often it is read', async () => {
  const interfaces = new SourceInterfaces(systemClock);
  const first = await interfaces.fieldsJson('a', Buffer.from(GREETING));
  assert.deepEqual(Object.keys(JSON.parse(`{${first}}`)), ['inputs', 'result_schema', 'questions', 'dependencies']);
  // Other bytes under the same hash: were they looked at, there would be nothing to tell.
  assert.equal(await interfaces.fieldsJson('a', Buffer.from('format: workflow/1')), first);
  assert.equal(await interfaces.fieldsJson('b', Buffer.from('format: workflow/1')), '');
});
