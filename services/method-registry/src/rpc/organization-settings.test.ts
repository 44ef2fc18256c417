import { deepEqual, equal, rejects } from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { newId, type OrgId } from '@methods/base/ids';
import { asDoer, commonRegistry, newMember, type RunningRegistry } from '../../test/running-registry.fixture.ts';

let registry: RunningRegistry;
before(async () => {
  registry = await commonRegistry();
});

async function settingsOf(orgId: OrgId) {
  const { settings } = await registry.accounts.getSettings({ orgId });
  return { ...settings, $typeName: undefined };
}

const plain = (contentOnDevices: boolean, retentionDays: number, webhookHosts: string[]) => ({
  $typeName: undefined,
  contentOnDevices,
  retentionDays,
  webhookHosts,
  timeZone: 'UTC',
});

describe('settings', () => {
  test('are the defaults until they are changed, and reading creates no row', async () => {
    const { orgId } = await newMember(registry.accounts);
    deepEqual(await settingsOf(orgId), plain(false, 30, []));
    equal((await registry.sql`select from registry.settings where org_id = ${orgId}`).length, 0);
  });

  test('a change keeps the settings it omits, and the log has the changed ones', async () => {
    const ann = await newMember(registry.accounts);
    const { orgId } = ann;
    const change = (more: object) => registry.accounts.changeSettings({ orgId, doer: asDoer(ann), ...more });
    await change({ retentionDays: 7 });
    await change({
      webhookHosts: { hosts: ['hooks.acme.example', '*.acme.example', 'localhost', 'xn--bcher-kva.example'] },
    });
    await change({ contentOnDevices: true });
    const hosts = ['hooks.acme.example', '*.acme.example', 'localhost', 'xn--bcher-kva.example'];
    deepEqual(await settingsOf(orgId), plain(true, 7, hosts));
    const { settings } = await change({ webhookHosts: { hosts: [] }, contentOnDevices: false });
    deepEqual({ ...settings, $typeName: undefined }, plain(false, 7, []));
    // Nothing changed: nothing to log.
    await change({ retentionDays: 7 });
    await change({});
    const { entries } = await registry.accounts.listAudit({ orgId, action: 'settings.change' });
    deepEqual(
      entries.map(({ by, targetId, beforeJson, afterJson }) => [
        by?.id,
        targetId,
        JSON.parse(beforeJson).retention_days,
        JSON.parse(afterJson).retention_days,
      ]),
      [
        [ann.userId, orgId, 7, 7],
        [ann.userId, orgId, 7, 7],
        [ann.userId, orgId, 7, 7],
        [ann.userId, orgId, 30, 7],
      ],
    );
    deepEqual(JSON.parse(entries[0]?.beforeJson ?? ''), {
      content_on_devices: true,
      retention_days: 7,
      webhook_hosts: hosts,
      time_zone: 'UTC',
    });
    deepEqual(JSON.parse(entries[0]?.afterJson ?? ''), {
      content_on_devices: false,
      retention_days: 7,
      webhook_hosts: [],
      time_zone: 'UTC',
    });
  });

  test('concurrent changes of different fields are all kept, each logged with the state it found', async () => {
    const ann = await newMember(registry.accounts);
    const { orgId } = ann;
    const doer = asDoer(ann);
    await Promise.all([
      ...Array.from({ length: 10 }, (_, i) =>
        registry.accounts.changeSettings({ orgId, doer, retentionDays: 100 + i }),
      ),
      registry.accounts.changeSettings({ orgId, doer, contentOnDevices: true }),
      registry.accounts.changeSettings({ orgId, doer, webhookHosts: { hosts: ['a.example'] } }),
    ]);
    const now = await settingsOf(orgId);
    deepEqual([now.contentOnDevices, now.webhookHosts], [true, ['a.example']]);
    const { entries } = await registry.accounts.listAudit({ orgId, action: 'settings.change' });
    equal(entries.length, 12);
    // In any order they form a chain: each state except the first was the one before exactly one change.
    const befores = entries.map(({ beforeJson }) => beforeJson).sort();
    const afters = entries.map(({ afterJson }) => afterJson);
    const first = befores.filter((before) => !afters.includes(before));
    equal(first.length, 1);
    equal(new Set(befores).size, 12);
  });

  test('bounds and host names are checked, and a refused change changes nothing', async () => {
    const ann = await newMember(registry.accounts);
    const { orgId } = ann;
    const change = (more: object) => registry.accounts.changeSettings({ orgId, doer: asDoer(ann), ...more });
    for (const retentionDays of [0, 3_651, 4_294_967_295]) {
      await rejects(change({ retentionDays, contentOnDevices: true }), { code: 'invalid_request' });
    }
    const long = `${'a'.repeat(63)}.`.repeat(4);
    const wrong = [
      '',
      'Acme.example',
      'https://acme.example',
      'acme.example:443',
      'acme.example/',
      '*',
      '*.',
      '*acme.example',
      'a.*.example',
      '.acme',
      'acme.',
      'a..b',
      '-a.example',
      'a-.example',
      'bücher.example',
      'a_b.example',
      '[::1]',
      'a\0b',
      ' a',
      'a\n',
      `${'a'.repeat(64)}.example`,
      `${long}example`,
    ];
    for (const host of wrong) {
      const refused = await change({ webhookHosts: { hosts: ['good.example', host] } }).catch((error) => error);
      deepEqual([host, refused.code, refused.findings?.[0]?.path], [host, 'invalid_request', '/webhook_hosts/1']);
    }
    await rejects(change({ webhookHosts: { hosts: Array.from({ length: 101 }, (_, i) => `h${i}.example`) } }), {
      code: 'invalid_request',
    });
    deepEqual(await settingsOf(orgId), plain(false, 30, []));
    await change({ webhookHosts: { hosts: Array.from({ length: 100 }, (_, i) => `h${i}.example`) } });
    await change({ retentionDays: 3_650 });
    await change({ retentionDays: 1 });
  });

  test('without a doer, or in a missing organization, nothing is changed', async () => {
    const ann = await newMember(registry.accounts);
    await rejects(registry.accounts.changeSettings({ orgId: ann.orgId, retentionDays: 5 }), {
      code: 'invalid_request',
    });
    for (const orgId of [newId('org'), '', 'a\0b']) {
      await rejects(registry.accounts.getSettings({ orgId: orgId as OrgId }), { code: 'not_found' });
      await rejects(registry.accounts.changeSettings({ orgId: orgId as OrgId, retentionDays: 5, doer: asDoer(ann) }), {
        code: 'not_found',
      });
    }
    deepEqual(await settingsOf(ann.orgId), plain(false, 30, []));
  });
});
