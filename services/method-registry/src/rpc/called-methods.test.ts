import { deepEqual, equal, rejects } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { before, describe, test } from 'node:test';
import type { MethodId, OrgId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { TEST_DOER } from '@methods/test/harness/test-doer';
import { commonRegistry, newOrganization, type RunningRegistry } from '../../test/running-registry.fixture.ts';

let registry: RunningRegistry;
let orgId: OrgId;
before(async () => {
  registry = await commonRegistry();
  orgId = await newOrganization(registry.client);
});

const LEAF = `format: method/2
name: leaf
inputs: { n: integer }
steps:
  - name: double
    in: [inputs.n]
    node: |
      return { n: n * 2 }
    out: { n: integer }
result: { n: =steps.double.n }
`;

/** Returns a method that calls each target with an integer. */
function caller(...targets: string[]): string {
  const steps = targets.map(
    (target, i) => `  - name: call${i}\n    call: ${target}\n    in: { n: 1 }\n    out: { n: integer }\n`,
  );
  return `format: method/2\nname: caller\ninputs: { n: integer = 1 }\nsteps:\n${steps.join('')}result: { n: =steps.call0.n }\n`;
}

async function create(source: string, org = orgId) {
  const request = { orgId: org, idempotencyHash: randomBytes(32), source: Buffer.from(source), doer: TEST_DOER };
  const { method, version } = await registry.client.createMethod(request);
  return {
    id: `wf_${method?.methodId}`,
    methodId: method?.methodId ?? ('' as MethodId),
    versionId: version?.versionId ?? 'ver_none',
    version,
  };
}

async function published(source: string) {
  const made = await create(source);
  const { methodId, versionId } = made;
  await registry.client.publishVersion({ doer: TEST_DOER, orgId, methodId, versionId });
  return made;
}

async function codes(saving: Promise<unknown>): Promise<string[]> {
  let found: string[] = [];
  await rejects(saving, (error) => {
    if (!(error instanceof ServiceError)) return false;
    found = error.findings.map(({ code }) => code);
    return error.code === 'invalid_method';
  });
  return found;
}

describe('a source that calls other methods', () => {
  test('is bound to the version published when it was saved, and stays bound', async () => {
    const leaf = await published(LEAF);
    const made = await create(caller(leaf.id));
    deepEqual({ ...made.version?.calls }, { [leaf.id]: leaf.versionId });
    const next = await registry.client.saveVersion({
      doer: TEST_DOER,
      orgId,
      methodId: leaf.methodId,
      baseVersion: leaf.versionId,
      source: Buffer.from(LEAF.replace('n * 2', 'n * 3')),
    });
    const versionId = next.version?.versionId ?? 'ver_none';
    await registry.client.publishVersion({ doer: TEST_DOER, orgId, methodId: leaf.methodId, versionId });
    const read = await registry.client.getVersion({ orgId, methodId: made.methodId, version: made.versionId });
    deepEqual({ ...read.version?.calls }, { [leaf.id]: leaf.versionId });
  });

  test('names a version itself, or the one published when a run starts: nothing is bound', async () => {
    const leaf = await published(LEAF);
    const made = await create(caller(`${leaf.id}@${leaf.versionId}`, `${leaf.id}@published`));
    deepEqual({ ...made.version?.calls }, {});
  });

  test('is refused when a called method is missing, not published, a file, or of another organization', async () => {
    const draft = await create(LEAF);
    const foreign = await create(LEAF, await newOrganization(registry.client));
    for (const target of [draft.id, foreign.id, `${draft.id}@ver_${'0'.repeat(26)}`, './leaf.method']) {
      deepEqual(await codes(create(caller(target))), ['M514'], target);
    }
  });

  test('is refused when the values do not fit the called method', async () => {
    const leaf = await published(LEAF);
    const wrong = caller(leaf.id).replace('in: { n: 1 }', 'in: { n: many }');
    deepEqual(await codes(create(wrong)), ['M516']);
    const unknown = caller(leaf.id)
      .replace('out: { n: integer }', 'out: { sum: integer }')
      .replace('call0.n', 'call0.sum');
    deepEqual(await codes(create(unknown)), ['M517']);
  });

  test('cannot call itself, directly or through another, nor deeper than five calls', async () => {
    const first = await published(LEAF);
    const save = (source: string) =>
      registry.client.saveVersion({
        doer: TEST_DOER,
        orgId,
        methodId: first.methodId,
        baseVersion: first.versionId,
        source: Buffer.from(source),
      });
    deepEqual(await codes(save(caller(first.id))), ['M515']);
    const around = await published(caller(first.id));
    deepEqual(await codes(save(caller(around.id))), ['M515']);
    let deep = await published(LEAF);
    for (let depth = 2; depth <= 5; depth++) deep = await published(caller(deep.id));
    const fifth = await create(caller(deep.id));
    equal(Object.keys(fifth.version?.calls ?? {}).length, 1, 'five calls below each other');
    deep = await published(caller(deep.id));
    deepEqual(await codes(create(caller(deep.id))), ['M515']);
  });
});
