import 'reflect-metadata/lite';
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { systemClock } from '@methods/base/clock';
import { GREETING } from '../testing/api.fixture.ts';
import { SourceInterfaces } from './source-interfaces.ts';
import { SourceThreads } from './source-threads.ts';

const threads = new SourceThreads();
after(() => threads.stop());

test('a source is compiled once, however often it is read', async () => {
  const interfaces = new SourceInterfaces(systemClock, threads);
  const of = (sha256: string, source: string) =>
    interfaces.fieldsJson({ orgId: 'org_1', sha256, source: Buffer.from(source) });
  const first = await of('a', GREETING);
  assert.deepEqual(Object.keys(JSON.parse(`{${first}}`)), ['inputs', 'result_schema', 'questions', 'dependencies']);
  // Other bytes under the same hash: if they were read, there would be no interface.
  assert.equal(await of('a', 'format: workflow/1'), first);
  assert.equal(await of('b', 'format: workflow/1'), '');
});

test('a long source has the same interface as a short one', async () => {
  const interfaces = new SourceInterfaces(systemClock, threads);
  const comment = `# ${'x'.repeat(20_000)}\n`;
  const long = { orgId: 'org_1' as const, sha256: 'long', source: Buffer.from(comment + GREETING) };
  const short = { orgId: 'org_1' as const, sha256: 'short', source: Buffer.from(GREETING) };
  assert.equal(await interfaces.fieldsJson(long), await interfaces.fieldsJson(short));
});
