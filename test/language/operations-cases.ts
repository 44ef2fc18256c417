// Runs of the examples about data and machines.
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { type ExampleCase, madeUpSecret } from './example-case.ts';

const OLD = '5f0c7a52-8f3b-4c55-9a30-0a0a0a0a0a0a';
const NEW = '6f0c7a52-8f3b-4c55-9a30-0a0a0a0a0a0a';
const TOKEN = 'fresh-token-4711';
const EXPORT = JSON.stringify(Array.from({ length: 50 }, (_, id) => ({ id })));
const CHAT = 'https://chat.example.com/hook/s3cr3t';

/** The digest of what the store was sent last. */
let stored = '';

export const operationsCases: readonly ExampleCase[] = [
  {
    method: 'order-quality',
    shows: 'a real python step reads the export with its package and names the report',
    inputs: { day: '2026-01-31', max_empty: 0.5 },
    world: {
      'GET shop.example.com/exports/orders.csv': {
        text: 'order_id,created_at,note\n1,2026-01-31T08:00,\n2,2026-01-31T09:00,x\n3,2026-01-30T23:00,y\n',
      },
    },
    expect: (run) => {
      const { report, worst } = run.result;
      assert.equal((report as { media_type: string }).media_type, 'text/html');
      assert.deepEqual((worst as { name: string }[])[0]?.name, 'note');
      const judged = run.record('profile').checks.map(({ name, status }) => `${status} ${name}`);
      assert.deepEqual(judged, [
        'passed Order ids are unique',
        'warned Orders are from the day',
        'passed The export is not empty',
        'passed No column has too many empty cells',
      ]);
    },
  },
  {
    method: 'sync-contacts',
    shows: 'pages are walked to the last, doubles are merged, and a contact that is refused is passed over',
    inputs: {},
    world: {
      'GET api.crm.example.com/v2/contacts': ({ query }) => {
        const first = query.get('cursor') === null;
        const data = first
          ? Array.from({ length: 30 }, (_, i) => ({ id: `c${i}`, email: `p${i}@example.com`, name: `P ${i}` }))
          : [
              { id: 'd1', email: 'P0@example.com', name: 'Double' },
              { id: 'd2', email: null, name: 'None' },
            ];
        return { json: { data, paging: { next_cursor: first ? 'n1' : null } } };
      },
      'PUT mail.example.com/v1/subscribers/c7': { status: 400 },
      'PUT mail.example.com/v1/subscribers/c9': (_, asked) => (asked === 0 ? { status: 429 } : { json: { id: 'c9' } }),
      'PUT mail.example.com/v1/subscribers/*': { json: { id: 'x' } },
    },
    expect: (run) => {
      assert.deepEqual(run.result, { found: 30, copied: 29 });
      assert.equal(run.record('upsert[7]').status, 'failed');
      assert.equal(run.record('upsert[9]').tries.length, 2);
    },
  },
  {
    method: 'deploy-site',
    shows: 'the build is checked, uploaded and switched over ssh, and the new version answers',
    inputs: { version: 'v1.1.0' },
    secrets: { CHAT_URL: CHAT },
    world: {
      'GET www.example.com/healthz': (_, asked) => ({ json: { version: asked < 2 ? 'v1.0.0' : 'v1.1.0', ok: true } }),
    },
    expect: (run) => {
      assert.deepEqual(run.result, {});
      assert.equal(run.record('health').tries.length, 3);
      assert.equal(run.record('upload').checks[0]?.status, 'passed');
    },
  },
  {
    method: 'deploy-site',
    shows: 'a version that never answers is rolled back and reported in the chat',
    inputs: { version: 'v1.2.0' },
    secrets: { CHAT_URL: CHAT },
    world: {
      'GET www.example.com/healthz': { status: 502 },
      'POST chat.example.com/hook/s3cr3t': {},
    },
    expect: (run, world) => {
      assert.equal(run.outcome.status === 'failed' && run.outcome.error.step, 'health');
      assert.equal(run.record('health').tries.length, 11);
      assert.equal(run.record('on_failure/rollback').status, 'succeeded');
      const [told] = world.requests('POST chat.example.com/hook/s3cr3t');
      assert.deepEqual(told?.json, { text: 'Deploy of v1.2.0 failed in health: The server answered 502' });
    },
  },
  {
    method: 'copy-export',
    shows: 'a workflow/2 source runs as it is: the token of an earlier step is used and never recorded',
    inputs: { day: '2026-01-31', tenant: 'acme' },
    secrets: { CHAT_URL: CHAT },
    world: {
      'POST login.example.com/oauth/token': { json: { access_token: TOKEN } },
      'GET acme.example.com/exports/orders.csv': { text: 'id,total\n1,5\n2,6\n' },
      'PUT archive.example.com/acme/2026-01-31': {},
      'POST chat.example.com/hook/s3cr3t': {},
    },
    answers: { confirm: { copy: true } },
    expect: (run, world) => {
      assert.deepEqual(run.result, { rows: 2, copied: true });
      // After the question the token is fetched again: it was stored nowhere.
      assert.equal(world.requests('POST login.example.com/oauth/token').length, 2);
      assert.equal(world.requests('PUT archive.example.com/acme/2026-01-31')[0]?.headers.authorization, TOKEN);
      assert.ok(!JSON.stringify(run.records).includes(TOKEN));
    },
  },
  {
    method: 'rotate-token',
    shows: 'the new token is used and the old one is gone; no record holds the token',
    inputs: { service: 'billing', token_id: OLD },
    secrets: { CHAT_URL: CHAT },
    world: {
      'POST vault.example.com/v1/tokens': { json: { id: NEW, token: TOKEN } },
      'PUT billing.internal.example.com/config/token': {},
      'GET billing.internal.example.com/whoami': ({ headers }) =>
        headers.authorization === `Bearer ${TOKEN}` ? { json: { service: 'billing' } } : { status: 401 },
      [`DELETE vault.example.com/v1/tokens/${OLD}`]: { status: 404 },
      'POST audit.example.com/entries': {},
    },
    expect: (run, world) => {
      assert.deepEqual(run.result, { old_token_gone: true, new_token: NEW });
      assert.deepEqual(world.requests('PUT billing.internal.example.com/config/token')[0]?.json, { value: TOKEN });
      assert.equal(world.sent('POST audit.example.com/entries').failed_in, null);
      assert.ok(!JSON.stringify(run.records).includes(TOKEN));
    },
  },
  {
    method: 'rotate-token',
    shows: 'a token that does not work is taken back, even where that fails too, and audited',
    inputs: { service: 'billing', token_id: OLD },
    secrets: { CHAT_URL: CHAT },
    world: {
      'POST vault.example.com/v1/tokens': { json: { id: NEW, token: TOKEN } },
      'PUT billing.internal.example.com/config/token': {},
      'GET billing.internal.example.com/whoami': { status: 401 },
      'POST billing.internal.example.com/config/token/restore': { status: 500 },
      'POST chat.example.com/hook/s3cr3t': {},
      'POST audit.example.com/entries': {},
    },
    expect: (run, world) => {
      assert.equal(run.outcome.status === 'failed' && run.outcome.error.step, 'works');
      assert.equal(run.record('on_failure/back').status, 'failed');
      const [alarm] = world.requests('POST chat.example.com/hook/s3cr3t');
      assert.equal(alarm?.text, 'Token of billing not rotated: works failed (http)');
      assert.equal(world.sent('POST audit.example.com/entries').failed_in, 'works');
      assert.equal(world.requests(`DELETE vault.example.com/v1/tokens/${OLD}`).length, 0);
    },
  },
  {
    method: 'archive-export',
    shows: 'an export that is empty at first is fetched again; the packed bytes are signed and stored',
    inputs: { day: '2026-01-31' },
    world: {
      'GET exports.example.com/nightly/2026-01-31.json': (_, asked) => ({ text: asked === 0 ? '' : EXPORT }),
      'PUT store.example.com/exports/2026-01-31': ({ bytes }) => {
        stored = createHash('sha256').update(bytes).digest('hex');
        return {};
      },
      'HEAD store.example.com/exports/2026-01-31': () => ({ headers: { 'x-digest': stored } }),
    },
    expect: (run, world) => {
      const [put] = world.requests('PUT store.example.com/exports/2026-01-31');
      assert.ok(put);
      assert.deepEqual(run.result, { digest: stored, bytes: put.bytes.length });
      assert.equal(gunzipSync(put.bytes).toString(), EXPORT);
      const { 'x-keep-days': days, 'content-type': type, 'x-signature': signature } = put.headers;
      assert.deepEqual([days, type], ['90', 'application/gzip']);
      assert.equal(signature, createHmac('sha256', madeUpSecret('SIGNING_KEY')).update(put.bytes).digest('hex'));
      assert.equal(run.record('export').tries.length, 2);
      assert.match(run.record('pack').log?.text ?? '', /packed \d+ bytes, try 1/);
    },
  },
  {
    method: 'archive-export',
    shows: 'a store that kept other bytes is found out',
    inputs: { day: '2026-02-01' },
    world: {
      'GET exports.example.com/nightly/2026-02-01.json': { text: EXPORT },
      'PUT store.example.com/exports/2026-02-01': {},
      'HEAD store.example.com/exports/2026-02-01': { headers: { 'x-digest': 'another' } },
    },
    expect: (run) => assert.equal(run.outcome.status === 'failed' && run.outcome.error.step, 'stored'),
  },
  {
    method: 'watch-release',
    shows: 'one region never gets the release, and a person takes it back',
    inputs: { version: '1.2.3', regions: ['eu', 'us'] },
    world: {
      'HEAD releases.example.com/artifacts/1.2.3': { headers: { 'content-length': '0' } },
      'PATCH releases.example.com/current': {},
      'GET releases.example.com/regions/eu': (_, asked) => ({
        json: { version: asked === 0 ? '1.2.2' : '1.2.3', healthy: true },
      }),
      'GET releases.example.com/regions/us': { json: { version: '1.2.2', healthy: true } },
      'DELETE releases.example.com/current/1.2.3': { status: 204 },
    },
    answers: { judge: { keep: false } },
    expect: (run, world) => {
      assert.deepEqual(run.result, { late: ['us'], kept: false });
      assert.equal(world.requests('GET releases.example.com/regions/eu').length, 2);
      assert.equal(world.requests('GET releases.example.com/regions/us').length, 4);
      assert.equal(
        world.requests('PATCH releases.example.com/current')[0]?.headers['idempotency-key'],
        'release-1.2.3',
      );
      assert.equal(run.questions[0]?.prompt, 'us lag behind 1.2.3. Keep the release?');
    },
  },
  {
    method: 'survey-summary',
    shows: 'a shell table becomes typed rows, summed up by question; small groups are hidden',
    inputs: { survey: OLD, labels: { price: 'Is the price fair?' }, hide_below: 2 },
    world: {
      [`GET surveys.example.com/${OLD}/answers.csv`]: {
        text: 'question;score\nservice;2\nprice;4\nprice;5\nservice;x\n',
      },
      [`POST surveys.example.com/${OLD}/summary`]: {},
    },
    expect: (run, world) => {
      assert.deepEqual(run.result, { questions: 2, best: 4.5 });
      assert.deepEqual(world.requests(`POST surveys.example.com/${OLD}/summary`)[0]?.json, {
        rows: [
          { question: 'price', answers: 2, mean: 4.5, label: 'Is the price fair?' },
          { question: 'service', answers: 1, mean: null },
        ],
        hidden: 1,
        text: 'service: hidden; price: 4.5',
      });
    },
  },
];
