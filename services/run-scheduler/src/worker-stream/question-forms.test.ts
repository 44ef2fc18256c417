import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { canonicalDigest } from '@methods/base/canonical';
import type { ProductionId, VersionId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { AskSchema } from '@methods/proto/worker/v1/worker_service_pb';
import { ManualClock } from '../manual-clock.fixture.ts';
import { runs } from '../run/run.fixture.ts';
import type { Run } from '../run/run.ts';
import { derivedForm } from './derived-form.ts';
import { QuestionForms } from './question-forms.ts';

const sourceOf = (steps: string) => new TextEncoder().encode(`format: method/2\nname: ab\nsteps:\n${steps}`);
const ASKS = (field: string) => `  - name: approve\n    ask: Sure?\n    out: { ${field}: boolean }\n`;
const FORM = (field: string) => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { [field]: { type: 'boolean' } },
  required: [field],
  additionalProperties: false,
});
const HASH = (field: string) => canonicalDigest(FORM(field)).toString('hex');

const SELF = { anyOf: [{ $ref: '#/$defs/self' }, { $ref: '#/$defs/self' }] };
const HOSTILE = JSON.stringify({ $defs: { self: SELF }, $ref: '#/$defs/self' });

describe('the form of a question', () => {
  const versions = new Map<string, { source: Uint8Array; calls: Record<ProductionId, VersionId> }>();
  let clock: ManualClock;
  let asked: string[];
  let away: boolean;
  let noted: string | null;
  let forms: QuestionForms;
  let run: Run;

  beforeEach(() => {
    run = runs.running;
    const { method, versionId } = run.facts;
    versions.clear();
    versions.set(`${method} ${versionId}`, { source: sourceOf(ASKS('ok')), calls: {} });
    [asked, away, noted] = [[], false, null];
    clock = new ManualClock();
    forms = new QuestionForms({
      async versionOf(orgId, method, versionId) {
        asked.push(versionId);
        if (away) throw new ServiceError('unavailable');
        const version = orgId === run.facts.orgId ? versions.get(`${method} ${versionId}`) : undefined;
        if (version === undefined) throw new ServiceError('not_found');
        return { versionId, ...version };
      },
      derive: async (_, source, path) => derivedForm({ source, path }),
      noted: async () => noted,
      clock,
    });
  });

  async function judged(ask: MessageInitShape<typeof AskSchema>): Promise<string> {
    const verdict = await forms.judge(run, create(AskSchema, ask));
    return verdict.kind === 'form' ? Object.keys(JSON.parse(verdict.formJson).properties).join() : verdict.kind;
  }

  const question = (formJson: string, step = 'approve') => ({ question: { step, formJson } });

  test('is that of the source if the hash matches, regardless of what else was sent', async () => {
    assert.equal(await judged({ ...question('', 'approve'), formSha256: HASH('ok') }), 'ok');
    assert.equal(await judged({ ...question(HOSTILE), formSha256: HASH('ok') }), 'ok');
    assert.equal(await judged({ ...question(JSON.stringify(FORM('ok'))), formSha256: HASH('other') }), 'refused');
  });

  test('from a worker that sends no hash is compared as a value', async () => {
    const { type, $schema, ...rest } = FORM('ok');
    assert.equal(await judged(question(JSON.stringify(FORM('ok')))), 'ok');
    assert.equal(await judged(question(JSON.stringify({ ...rest, type, $schema }, null, 1))), 'ok');
    for (const sent of [HOSTILE, '', '{', '{}', JSON.stringify(FORM('other')), '['.repeat(400), ' '.repeat(4 << 20)]) {
      assert.equal(await judged(question(sent)), 'refused');
    }
  });

  test('of a step that asks nothing, or of a missing version, is refused', async () => {
    assert.equal(await judged({ ...question('', 'other'), formSha256: HASH('ok') }), 'refused');
    assert.equal(await judged({ ...question('', 'approve'), formSha256: HASH('ok') }), 'ok');
    versions.clear();
    assert.equal(await judged({ ...question('', 'approve[2]'), formSha256: HASH('ok') }), 'ok');
    assert.equal(await judged({ ...question('', 'third'), formSha256: HASH('ok') }), 'refused');
  });

  test('is requested from the registry once, and again a second after a failure', async () => {
    away = true;
    const ask = { ...question(''), formSha256: HASH('ok') };
    assert.deepEqual(await Promise.all([judged(ask), judged(ask), judged(ask)]), ['later', 'later', 'later']);
    assert.equal(asked.length, 1);
    away = false;
    assert.equal(await judged(ask), 'later');
    clock.forward(1_000);
    assert.deepEqual([await judged(ask), await judged(ask)], ['ok', 'ok']);
    assert.equal(asked.length, 2);
  });

  test('comes with the policy of its step in the source, for a question inside a call too', async () => {
    const { method, versionId } = run.facts;
    const asks = (to: string) =>
      `  - name: approve\n    ask: { question: Sure?, to: ${to} }\n    out: { ok: boolean }\n`;
    versions.set(`${method} ${versionId}`, {
      source: sourceOf(`${asks('admin')}  - name: inner\n    call: wf_b\n    in: {}\n`),
      calls: { wf_b: 'ver_b' },
    });
    versions.set('wf_b ver_b', { source: sourceOf(asks('ann@example.com')), calls: {} });
    const policyTo = async (step: string) => {
      const verdict = await forms.judge(run, create(AskSchema, { ...question('', step), formSha256: HASH('ok') }));
      return verdict.kind === 'form' ? verdict.policy?.to : verdict.kind;
    };
    assert.deepEqual(await policyTo('approve'), ['admin']);
    assert.deepEqual(await policyTo('inner/approve'), ['ann@example.com']);
  });

  test('inside calls is that of the called version: bound, named or chosen', async () => {
    const { method, versionId } = run.facts;
    const call = (name: string, target: string) => `  - name: ${name}\n    call: ${target}\n    in: {}\n`;
    const source = sourceOf(call('bound', 'wf_b') + call('named', 'wf_c@ver_c') + call('chosen', 'wf_d@published'));
    versions.set(`${method} ${versionId}`, { source, calls: { wf_b: 'ver_b' } });
    versions.set('wf_b ver_b', { source: sourceOf(call('inner', 'wf_c')), calls: { wf_c: 'ver_c' } });
    versions.set('wf_c ver_c', { source: sourceOf(ASKS('c')), calls: {} });
    versions.set('wf_d ver_d', { source: sourceOf(ASKS('d')), calls: {} });
    assert.equal(await judged({ ...question('', 'bound/inner/approve'), formSha256: HASH('c') }), 'c');
    assert.equal(await judged({ ...question('', 'named/approve'), formSha256: HASH('c') }), 'c');
    for (const [note, verdict] of [
      [null, 'refused'],
      ['{"version_id":"ver_c"}', 'refused'],
      ['nonsense', 'refused'],
      ['{"version_id":"ver_d"}', 'd'],
    ] as const) {
      noted = note;
      assert.equal(await judged({ ...question('', 'chosen/approve'), formSha256: HASH('d') }), verdict);
      clock.forward(1_000);
    }
  });

  test('of methods that call each other endlessly is refused', async () => {
    const { method, versionId } = run.facts;
    const source = sourceOf(`  - name: again\n    call: ${method}@${versionId}\n    in: {}\n`);
    versions.set(`${method} ${versionId}`, { source, calls: {} });
    assert.equal(await judged({ ...question('', `${'again/'.repeat(100)}approve`), formSha256: '' }), 'refused');
    assert.ok(asked.length <= 6);
  });

  test('is cached up to a bound of bytes', async () => {
    const json = 'x'.repeat(1024 * 1024);
    const bounded = new QuestionForms({
      async versionOf(_org, _method, versionId) {
        asked.push(versionId);
        return { versionId, source: new Uint8Array(), calls: {} };
      },
      derive: async () => ({ kind: 'form', json, sha256: 'h', ensures: false, policy: null }),
      noted: async () => null,
      clock,
    });
    const steps = Array.from({ length: 20 }, (_, n) => `s${n}`);
    for (const step of [...steps, 's19', 's10', 's0']) {
      await bounded.judge(run, create(AskSchema, { question: { step }, formSha256: 'h' }));
    }
    assert.equal(asked.length, 21);
  });
});
