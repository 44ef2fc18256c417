import { deepEqual, equal, rejects } from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { type MethodId, newMethodId, type OrgId } from '@methods/base/ids';
import { TEST_DOER } from '@methods/test/harness/test-doer';
import {
  commonRegistry,
  methodSource,
  newMethod,
  newOrganization,
  type RunningRegistry,
} from '../../test/running-registry.fixture.ts';

let registry: RunningRegistry;
before(async () => {
  registry = await commonRegistry();
});

const offer = async (orgId: OrgId, methodId: MethodId, offered = true) =>
  (await registry.client.offerMethod({ orgId, methodId, offered, doer: TEST_DOER }, { timeoutMs: 60_000 })).method;
const listed = async (orgId: OrgId) => (await registry.client.listOfferedMethods({ orgId })).methods;
const publish = ({ orgId, ...made }: { orgId: OrgId } & Awaited<ReturnType<typeof newMethod>>) =>
  registry.client.publishVersion({ orgId, ...made, doer: TEST_DOER });

/** The schema of its inputs is about `fields` times as long as the text that describes each. */
const wide = (fields: number, words: string) =>
  Buffer.from(`format: method/2
name: wide
inputs:
${Array.from({ length: fields }, (_, n) => `  field_${n}: string -- ${words}`).join('\n')}
steps:
  - { name: one, node: 'return {}' }
`);

describe('methods offered to agents', () => {
  test('are listed as their published version describes them, until they are withdrawn', async () => {
    const { client } = registry;
    const orgId = await newOrganization(client);
    const made = await newMethod(client, orgId);
    const { methodId } = made;
    equal((await offer(orgId, methodId))?.offeredToAgents, true);
    deepEqual(
      (await listed(orgId)).map(({ unavailable, name }) => [unavailable, name]),
      [['not_published', '']],
    );
    await publish({ orgId, ...made });
    const [tool] = await listed(orgId);
    deepEqual(
      [tool?.unavailable, tool?.name, tool?.method?.displayName, tool?.method?.publishedVersion],
      ['', 'weekly-report', 'Weekly report', made.versionId],
    );
    deepEqual(JSON.parse(tool?.resultSchemaJson ?? '').properties, { total: { type: 'number' } });
    deepEqual(JSON.parse(tool?.inputSchemaJson ?? '').additionalProperties, false);
    equal((await client.getMethod({ orgId, methodId })).method?.offeredToAgents, true);
    equal((await client.listMethods({ orgId, limit: 10 })).methods[0]?.offeredToAgents, true);
    equal((await offer(orgId, methodId, false))?.offeredToAgents, false);
    deepEqual(await listed(orgId), []);
  });

  test('have the description and inputs of the version that is published now', async () => {
    const { client } = registry;
    const orgId = await newOrganization(client);
    const source = (input: string) =>
      Buffer.from(
        `format: method/2\nname: greet\ndescription: Says hello.\ninputs: { ${input}: string }\nsteps:\n  - { name: one, node: 'return {}' }\n`,
      );
    const made = await newMethod(client, orgId, source('first'));
    await publish({ orgId, ...made });
    await offer(orgId, made.methodId);
    const fields = async () => {
      const [tool] = await listed(orgId);
      return [tool?.description, ...Object.keys(JSON.parse(tool?.inputSchemaJson ?? '{}').properties ?? {})];
    };
    deepEqual(await fields(), ['Says hello.', 'first']);
    const { version } = await client.saveVersion({
      orgId,
      methodId: made.methodId,
      baseVersion: made.versionId,
      source: source('second'),
      doer: TEST_DOER,
    });
    deepEqual(await fields(), ['Says hello.', 'first'], 'a draft changes nothing');
    await publish({ orgId, methodId: made.methodId, versionId: version?.versionId ?? 'ver_none' });
    deepEqual(await fields(), ['Says hello.', 'second']);
  });

  test('are logged once for each change, for any number of simultaneous repeats', async () => {
    const { client, sql } = registry;
    const orgId = await newOrganization(client);
    const { methodId } = await newMethod(client, orgId);
    for (const offered of [true, false]) {
      const replies = await Promise.all(Array.from({ length: 10 }, () => offer(orgId, methodId, offered)));
      deepEqual(new Set(replies.map((method) => method?.offeredToAgents)), new Set([offered]));
    }
    const lines = await sql`
      select before, after from registry.audit where target_id = ${methodId} and action = 'method.offer' order by audit_id`;
    deepEqual(
      lines.map((line) => [line.before, line.after]),
      [
        [{ offered_to_agents: false }, { offered_to_agents: true }],
        [{ offered_to_agents: true }, { offered_to_agents: false }],
      ],
    );
  });

  test('are at most 100 of an organization, for any number offered at once', async () => {
    const { client, sql } = registry;
    const orgId = await newOrganization(client);
    const { methodId } = await newMethod(client, orgId);
    await offer(orgId, methodId);
    const methodIds = Array.from({ length: 110 }, () => newMethodId());
    await sql`
      insert into registry.methods (org_id, method_id, display_name, created_by)
      select ${orgId}, id, 'Copy', 'test' from unnest(${methodIds}::text[]) id`;
    await sql`
      insert into registry.offers (org_id, method_id, place, offered_by)
      select ${orgId}, id, n + 1, 'test' from unnest(${methodIds.slice(0, 94)}::text[]) with ordinality as o (id, n)`;
    const outcomes = await Promise.allSettled(methodIds.slice(94).map((id) => offer(orgId, id)));
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    deepEqual(
      [outcomes.length - refused.length, new Set(refused.map(({ code }) => code))],
      [5, new Set(['invalid_request'])],
    );
    equal(refused[0]?.findings[0]?.path, '/offer_to_agents');
    equal((await listed(orgId)).length, 100);
    await offer(orgId, methodId);
    await offer(orgId, methodId, false);
    const last = methodIds.at(-1) ?? methodId;
    equal((await offer(orgId, last))?.offeredToAgents, true, 'one withdrawn makes room for another');
  });

  test('with too long a description are listed without their schemas', async () => {
    const { client } = registry;
    const orgId = await newOrganization(client);
    const made = await newMethod(client, orgId, wide(700, 'x'.repeat(80)));
    await publish({ orgId, ...made });
    await offer(orgId, made.methodId);
    const [tool] = await listed(orgId);
    deepEqual([tool?.unavailable, tool?.inputSchemaJson], ['too_large', '']);
  });

  test('are refused to other organizations like missing ones', async () => {
    const { client } = registry;
    const orgId = await newOrganization(client);
    const made = await newMethod(client, await newOrganization(client), methodSource('Theirs'));
    await rejects(offer(orgId, made.methodId), { code: 'not_found' });
    await rejects(offer(orgId, newMethodId()), { code: 'not_found' });
    await rejects(offer(orgId, made.methodId, false), { code: 'not_found' });
    await rejects(offer(orgId, 'x' as MethodId), { code: 'not_found' });
  });
});
