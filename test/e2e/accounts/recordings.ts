// A recording becomes a draft that a person can continue with, even if the registry dies meanwhile.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { until } from '../../harness/until.ts';
import type { ApiClient } from '../api-client.ts';
import { followEvents } from '../followed-events.ts';
import type { AccountWorld, MethodBody } from './account-world.ts';
import { UploadLink } from './upload-link.ts';

const HAR = readFileSync(new URL('../../../libs/method/src/recording/fixtures/shop-refund.har', import.meta.url));
/** White space is read too: compiling lasts long enough to be met. */
const LONG_HAR = Buffer.concat([HAR, Buffer.alloc(18_000_000, ' ')]);

export function recordings(world: () => AccountWorld): void {
  describe('a recording', () => {
    test('sent in two pieces is compiled to a draft that validates', async () => {
      const { member, viewer } = world();
      const followed = await followEvents(`${viewer.baseUrl}/api/events`, viewer.apiKey);
      const link = await UploadLink.create(member, HAR.length);
      assert.equal((await link.read()).upload.state, 'waiting');
      assert.equal((await link.patch(0, HAR.subarray(0, 5_000))).status, 204);
      assert.equal(await link.offset(), 5_000);
      assert.equal((await link.patch(4_000, HAR.subarray(4_000))).status, 409, 'a piece begins where the last ended');
      assert.equal((await link.patch(5_000, HAR.subarray(5_000))).status, 204);
      const method = await link.built();
      assert.deepEqual([method.status, method.build?.state, method.build?.error], ['ready', 'succeeded', null]);
      assert.equal((await link.read()).upload.state, 'ready');
      await until('an open page is notified', () =>
        followed.events.some(({ event, data }) => event === 'build' && data.method_id === method.id),
      );
      followed.leave();
      await draftValidates(member, method);
      const retried = await member.request('POST', `/api/methods/${method.id}/retry`);
      assert.deepEqual([retried.status, retried.refusal.error], [409, 'not_failed']);
    });

    test('whose bytes are no recording fails with a reason, and keeps failing when it is tried again', async () => {
      const { member } = world();
      const broken = {
        'cut short': HAR.subarray(0, 9_000),
        'no JSON': Buffer.from('%PDF-1.7 but not even that'),
        'another JSON': Buffer.from('{"log":{"entries":{}}}'),
        'deep as a well': Buffer.from(`{"log":{"entries":${'['.repeat(500_000)}`),
      };
      for (const [what, bytes] of Object.entries(broken)) {
        const link = await UploadLink.create(member, bytes.length);
        assert.equal((await link.put(bytes)).status, 201, what);
        const failed = await link.built();
        assert.deepEqual([failed.status, failed.current_version], ['failed', null], what);
        assert.match(failed.build?.error ?? '', /\S+ \S+/, what);
        const retried = await member.request('POST', `/api/methods/${failed.id}/retry`);
        assert.deepEqual([retried.status, retried.read<MethodBody>().id], [202, failed.id], what);
        assert.equal((await link.built()).status, 'failed', what);
      }
    });

    test('whose build the registry dies in is built once all the same', { timeout: 120_000 }, async () => {
      const { member, admin, stack } = world();
      const link = await UploadLink.create(member, LONG_HAR.length);
      assert.equal((await link.put(LONG_HAR)).status, 201);
      const { id } = await until('the build is under way', async () => {
        const { method } = await link.read();
        return method?.build?.state === 'running' && method;
      });
      const registry = stack.ready.processes.find(({ name }) => name === 'method-registry');
      process.kill(registry?.pid ?? 0, 'SIGKILL');
      // What is tested is not how long the lease of the dead one lasts.
      await stack.sql`update registry.builds set due_at = now() where method_id = ${id}`;
      const method = await link.built(60_000);
      assert.deepEqual([method.status, method.build?.state], ['ready', 'succeeded']);
      assert.ok((method.build?.attempts ?? 0) > 1, 'it was tried again');
      const versions = await member.request('GET', `/api/methods/${method.id}/versions`);
      assert.equal(versions.read<{ items: object[] }>().items.length, 1);
      const log = await admin.request('GET', `/api/audit?action=method.build&target=${method.id}`);
      assert.equal(log.read<{ items: object[] }>().items.length, 1);
      await draftValidates(member, method);
    });
  });
}

async function draftValidates(owner: ApiClient, method: MethodBody): Promise<void> {
  const version = await owner.request('GET', `/api/methods/${method.id}/versions/${method.current_version}`);
  const { source } = version.read<{ source: string }>();
  assert.match(source, /^format: method\/2$/m);
  assert.match(source, /^ *#/m, 'its notes say what a person must check');
  const checked = await owner.request('POST', '/api/methods/validate', { body: { source } });
  assert.equal(checked.read<{ ok: boolean }>().ok, true, checked.text);
}
