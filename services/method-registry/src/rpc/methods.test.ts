import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { before, describe, test } from 'node:test';
import type { MethodId, OrgId, VersionId } from '@methods/base/ids';
import type { ServiceError } from '@methods/errors/service-error';
import type { CallOptions } from '@methods/rpc/client';
import { TEST_DOER } from '@methods/test/harness/test-doer';
import {
  commonRegistry,
  methodSource,
  newMethod,
  newOrganization,
  type RunningRegistry,
} from '../../test/running-registry.fixture.ts';

let registry: RunningRegistry;
let orgId: OrgId;
before(async () => {
  registry = await commonRegistry();
  orgId = await newOrganization(registry.client);
});

const create = (more = {}, org = orgId, options: CallOptions = {}) =>
  registry.client.createMethod({ orgId: org, idempotencyHash: randomBytes(32), doer: TEST_DOER, ...more }, options);

describe('a method without a version', () => {
  test('is created from only an agent prompt, and is ready', async () => {
    const agentPrompt = 'Ask for the order number. ⚙️\r\n';
    const { method, version, created } = await create({ agentPrompt, displayName: 'Refunds' });
    equal(created, true);
    equal(version, undefined);
    equal(method?.status, 'ready');
    equal(method.format, 'method/2');
    deepEqual([method.currentVersion, method.publishedVersion], ['', '']);
    deepEqual(method.availableRecords, ['agent_prompt']);
    equal(method.build, undefined);
    const { methodId } = method;
    equal((await registry.client.getMethod({ orgId, methodId })).agentPrompt, agentPrompt);
    await rejects(registry.client.getVersion({ orgId, methodId }), { code: 'not_found' });
    await rejects(registry.client.getVersion({ orgId, methodId, version: 'published' }), { code: 'not_published' });
    deepEqual((await registry.client.listVersions({ orgId, methodId })).versions, []);
    equal((await create({ agentPrompt })).method?.displayName, 'Untitled method');
  });

  test('100 simultaneous creations of prompts with one key create one method', async () => {
    const idempotencyHash = randomBytes(32);
    // A busy machine may need longer for all of them than a call's usual deadline.
    const replies = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        create({ agentPrompt: `Do ${i}.`, idempotencyHash }, orgId, { timeoutMs: 120_000 }),
      ),
    );
    equal(new Set(replies.map(({ method }) => method?.methodId)).size, 1);
    equal(replies.filter(({ created }) => created).length, 1);
  });

  test('gets its first version without a base; of 20 at once one succeeds', async () => {
    const { method } = await create({ agentPrompt: 'Do it.' });
    const methodId = method?.methodId ?? ('' as MethodId);
    const save = (title: string, baseVersion: VersionId | '' = '') =>
      registry.client.saveVersion({ orgId, methodId, baseVersion, source: methodSource(title), doer: TEST_DOER });
    await rejects(save('Upon nothing', 'ver_'), (error: ServiceError) => {
      equal(error.code, 'version_conflict');
      equal(error.facts.current_version, '');
      return true;
    });
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => save(`First ${i}`)));
    equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
    const now = (await registry.client.getMethod({ orgId, methodId })).method;
    deepEqual(now?.availableRecords, ['source', 'agent_prompt']);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') equal(outcome.reason.facts.current_version, now?.currentVersion);
    }
  });

  test('a source and a prompt may be sent together; a request with neither is refused', async () => {
    const { method, version } = await create({ agentPrompt: 'Do it.', source: methodSource('Both') });
    deepEqual(method?.availableRecords, ['source', 'agent_prompt']);
    equal(method?.currentVersion, version?.versionId);
    await rejects(create(), { code: 'invalid_method' });
    const uploadId = 'upl_00000000000000000000000000';
    await rejects(create({ uploadId, agentPrompt: 'Do it.' }), { code: 'invalid_request' });
    await rejects(create({ uploadId, source: methodSource('Both') }), { code: 'invalid_request' });
    await rejects(create({ uploadId }), { code: 'not_found' });
  });

  test('a prompt has at most 64 KiB of UTF-8, and no NUL', async () => {
    equal((await create({ agentPrompt: 'ä'.repeat(32 * 1024) })).created, true);
    await rejects(create({ agentPrompt: 'ä'.repeat(32 * 1024 + 1) }), (error: ServiceError) => {
      equal(error.code, 'too_large');
      equal(error.findings[0]?.code, 'agent_prompt_bytes');
      return true;
    });
    await rejects(create({ agentPrompt: 'a\0' }), { code: 'invalid_request' });
  });
});

describe('UpdateMethod', () => {
  test('changes the given fields, and logs the changes', async () => {
    const { client, sql } = registry;
    const { methodId } = await newMethod(client, orgId);
    const change = (more: object) => client.updateMethod({ orgId, methodId, doer: TEST_DOER, ...more });
    const first = await change({ displayName: 'Refunds' });
    equal(first.method?.displayName, 'Refunds');
    ok((first.method?.updatedAtMs ?? 0) >= (first.method?.createdAtMs ?? 0));
    const second = await change({ agentPrompt: 'Do it.' });
    deepEqual([second.method?.displayName, second.method?.availableRecords], ['Refunds', ['source', 'agent_prompt']]);
    deepEqual(await change({ displayName: 'Refunds', agentPrompt: 'Do it.' }), second, 'the same again is no change');
    deepEqual(await change({}), second);
    deepEqual((await change({ agentPrompt: '' })).method?.availableRecords, ['source']);
    const lines = await sql`
      select before, after from registry.audit
      where target_id = ${methodId} and action = 'method.update' order by audit_id`;
    deepEqual(
      lines.map((line) => [line.before, line.after]),
      [
        [
          { display_name: 'Weekly report', agent_prompt_bytes: 0 },
          { display_name: 'Refunds', agent_prompt_bytes: 0 },
        ],
        [
          { display_name: 'Refunds', agent_prompt_bytes: 0 },
          { display_name: 'Refunds', agent_prompt_bytes: 6 },
        ],
        [
          { display_name: 'Refunds', agent_prompt_bytes: 6 },
          { display_name: 'Refunds', agent_prompt_bytes: 0 },
        ],
      ],
    );
  });

  test('texts are bounded, and nothing changes when one is refused', async () => {
    const { client } = registry;
    const { methodId } = await newMethod(client, orgId);
    const before = await client.getMethod({ orgId, methodId });
    for (const [more, code] of [
      [{ displayName: '' }, 'invalid_request'],
      [{ displayName: 'x'.repeat(201) }, 'invalid_request'],
      [{ displayName: 'a\0' }, 'invalid_request'],
      [{ displayName: 'Good', agentPrompt: 'x'.repeat(65_537) }, 'too_large'],
      [{ displayName: 'Good', doer: undefined }, 'invalid_request'],
    ] as const) {
      await rejects(client.updateMethod({ orgId, methodId, doer: TEST_DOER, ...more }), { code });
    }
    deepEqual(await client.getMethod({ orgId, methodId }), before);
  });
});

describe('ValidateSource', () => {
  const validate = (source: Uint8Array) => registry.client.validateSource({ orgId, source });

  test('returns what saving would find, and saves nothing', async () => {
    const count = async () => (await registry.sql`select count(*)::int as n from registry.methods`)[0]?.n;
    const before = await count();
    deepEqual(await validate(methodSource('Good')).then(({ ok, findings }) => [ok, findings]), [true, []]);
    const wrong = await validate(Buffer.from(methodSource('Wrong').toString().replace('orders.total', 'ordrs.total')));
    equal(wrong.ok, false);
    ok(wrong.findings.some(({ severity, line }) => severity === 'error' && line > 1));
    const old = await validate(Buffer.from('format: workflow/1\nworkflow: Old\nsteps: []\n'));
    deepEqual([old.ok, old.findings.map(({ code }) => code)], [true, ['U000']]);
    equal(await count(), before);
  });

  test('too many bytes, bytes that are not UTF-8, and an empty source are findings', async () => {
    for (const source of [Buffer.alloc(256 * 1024 + 1, 'x'), Buffer.from([0xff, 0xfe]), Buffer.alloc(0)]) {
      const { ok: isGood, findings } = await validate(source);
      equal(isGood, false);
      match(findings[0]?.code ?? '', /^M\d{3}$/);
    }
    equal((await validate(Buffer.alloc(256 * 1024 + 1, 'x'))).findings[0]?.code, 'M002');
  });

  test('calls are checked against what the organization has published', async () => {
    const source = Buffer.from(
      [
        'format: method/2',
        'name: caller',
        'steps:',
        '  - name: inner',
        '    call:',
        `      method: wf_${'0'.repeat(26)}`,
        '',
      ].join('\n'),
    );
    equal((await validate(source)).ok, false);
  });
});

describe('ListVersions', () => {
  test('newest first, page by page, without bytes, with who saved and published', async () => {
    const { client } = registry;
    const { methodId, versionId: first } = await newMethod(client, orgId);
    const ids = [first];
    for (let i = 0; i < 4; i++) {
      const saved = await client.saveVersion({
        orgId,
        methodId,
        baseVersion: ids[0] ?? '',
        source: methodSource(`Number ${i}`),
        reason: `number ${i}`,
        doer: TEST_DOER,
      });
      ids.unshift(saved.version?.versionId ?? 'ver_none');
    }
    await client.publishVersion({ orgId, methodId, versionId: first, doer: TEST_DOER });
    const seen = [];
    let cursor = '';
    do {
      const page = await client.listVersions({ orgId, methodId, cursor, limit: 2 });
      ok(page.versions.length <= 2);
      seen.push(...page.versions);
      cursor = page.nextCursor;
    } while (cursor !== '');
    deepEqual(
      seen.map((version) => version.versionId),
      ids,
    );
    ok(seen.every(({ source, createdBy }) => source.length === 0 && createdBy?.kind === 'system'));
    equal(seen[0]?.reason, 'number 3');
    ok((seen.at(-1)?.publishedAtMs ?? 0) > 0);
    equal(seen.at(-1)?.publishedBy?.id, TEST_DOER.id);
    await rejects(client.listVersions({ orgId, methodId, cursor: 'x' }), { code: 'invalid_request' });
  });
});
