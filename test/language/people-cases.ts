// Runs of the examples about colleagues, customers and readers.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type ExampleCase, madeUpSecret } from './example-case.ts';

const DAY_MS = 86_400_000;
const PERSON = '5f0c7a52-8f3b-4c55-9a30-0a0a0a0a0a0a';

export const peopleCases: readonly ExampleCase[] = [
  {
    method: 'onboard-employee',
    shows: 'the accounts are made side by side, and the letter goes out only when the first day has come',
    inputs: {
      name: 'Ann Lee',
      email: 'ann@example.com',
      start: new Date(Date.now() + 3 * DAY_MS).toISOString(),
      devices: ['laptop', 'phone'],
    },
    world: {
      'POST directory.example.com/v1/people': { status: 201, json: { id: PERSON } },
      'PUT mail.example.com/mailboxes/ann%40example.com': { json: { address: 'ann@example.com' } },
      'POST doors.example.com/badges': { json: { number: 7 } },
      'POST it.example.com/orders': (_, asked) => ({ json: { ticket: `T-${asked}` } }),
      'POST mail.example.com/messages': {},
    },
    expect: (run, world) => {
      assert.deepEqual(run.result, { person: PERSON, badge: 7, devices: 2 });
      assert.equal(run.attempts, 1);
      assert.ok(run.sleptMs > 2 * DAY_MS && run.sleptMs <= 3 * DAY_MS, `slept ${run.sleptMs} ms`);
      const [badge] = world.requests('POST doors.example.com/badges');
      assert.equal(badge?.text, 'holder=Ann+Lee&zones=lobby&zones=office');
      assert.equal(badge?.headers['idempotency-key'], undefined);
      assert.equal(
        world.requests('POST directory.example.com/v1/people')[0]?.headers['x-api-key'],
        madeUpSecret('DIRECTORY_KEY'),
      );
      const text = 'Welcome, Ann! Your mail is ann@example.com. Devices: T-0, T-1.';
      assert.deepEqual(world.requests('POST mail.example.com/messages')[0]?.json, { to: 'ann@example.com', text });
    },
  },
  {
    method: 'onboard-employee',
    shows: 'the same device twice is refused before the first step',
    inputs: { name: 'Ann', email: 'a@b.example', start: '2026-03-02T08:00:00Z', devices: ['phone', 'phone'] },
    world: {},
    expect: (run, world) => {
      assert.equal(run.outcome.status === 'failed' && run.outcome.error.code, 'check_failed');
      assert.deepEqual(world.seen, []);
      assert.deepEqual(
        run.checks.map(({ name, phase, status }) => [name, phase, status]),
        [['Nobody needs the same device twice', 'require', 'failed']],
      );
    },
  },
  {
    method: 'render-message',
    shows: 'it fills the holes with shared code and signs in the language of the reader',
    inputs: { template: 'Hello {name}, you have {plan}.', reader: { name: 'Ann', plan: 'pro', language: 'de' } },
    world: {},
    expect: (run) => {
      assert.equal(run.result.text, 'Hello Ann, you have pro.\n\nViele Grüße\nYour shop');
      assert.match(String(run.result.digest), /^[0-9a-f]{12}$/);
    },
  },
  {
    method: 'send-newsletter',
    shows: 'the editor sees a sample; one reader whose mail is refused does not stop the others',
    inputs: { segment: 'trial', template: 'Hello {name}' },
    world: {
      'GET lists.example.com/segments/trial/members': {
        json: {
          members: ['Ann', 'Bo', 'Cy', 'Di'].map((name) => ({ name, email: `${name}@example.com`, plan: 'free' })),
        },
      },
      'POST mail.example.com/v3/send': ({ json }) =>
        (json as { to: string }).to === 'Bo@example.com' ? { status: 422 } : { json: { id: 'm' } },
    },
    answers: { editor: { decision: 'send', subject: 'Spring' } },
    expect: (run, world) => {
      assert.deepEqual(run.result, { sent: ['Ann@example.com', 'Cy@example.com', 'Di@example.com'], failed: 1 });
      assert.deepEqual(run.questions[0]?.show, [
        { path: 'steps.sample.text', value: 'Hello Ann\n\nKind regards\nYour shop' },
      ]);
      // A refused request is not tried again, and called steps are recorded below their call.
      assert.equal(world.requests('POST mail.example.com/v3/send').length, 4);
      assert.equal(run.record('mailing[3]/message/filled').status, 'succeeded');
      assert.equal(run.record('mailing[1]').status, 'failed');
    },
  },
  {
    method: 'answer-ticket',
    shows: 'the draft is edited once and sent, though the search was away',
    inputs: { ticket_id: 7 },
    world: {
      'GET desk.example.com/api/tickets/7': {
        json: { subject: 'REFUND?', body: 'Where is it?', name: 'Ann Lee', status: 'open' },
      },
      'GET help.example.com/search': ({ query }) => ({
        json: { hits: [{ title: query.get('q') ?? '', url: 'https://help.example.com/1' }] },
      }),
      'POST desk.example.com/api/tickets/7/replies': { json: { id: 'r1' } },
    },
    answers: { 'open/edit[0]': { decision: 'edit', text: 'Better' }, 'open/edit[1]': { decision: 'send' } },
    expect: (run, world) => {
      assert.deepEqual(run.result, { replied: true, reply_id: 'r1' });
      assert.match(run.questions[0]?.details ?? '', /^Hello Ann,\n\nthese pages may help:\n- refund\?: https:/);
      assert.equal(run.questions[1]?.details, 'Better');
      assert.deepEqual(world.requests('POST desk.example.com/api/tickets/7/replies')[0]?.json, {
        text: 'Better',
        close: true,
      });
    },
  },
  {
    method: 'answer-ticket',
    shows: 'a closed ticket is not changed',
    inputs: { ticket_id: 8 },
    world: {
      'GET desk.example.com/api/tickets/8': { json: { subject: 'a', body: 'b', name: 'c', status: 'closed' } },
    },
    expect: (run) => {
      assert.deepEqual(run.result, { replied: false, reply_id: null });
      assert.equal(run.record('open').status, 'skipped');
    },
  },
  {
    method: 'delete-personal-data',
    shows: 'each system is asked to delete, and the note is signed without the key appearing anywhere',
    inputs: {
      customer_id: 'cus_1',
      systems: { shop: 'https://shop.example.com/c', mail: 'https://mail.example.com/people' },
      requested: '2026-01-01',
    },
    world: {
      'DELETE shop.example.com/c/cus_1': { status: 204, headers: { date: 'Thu, 01 Jan 2026 00:00:00 GMT' } },
      'DELETE mail.example.com/people/cus_1': { status: 404 },
    },
    answers: { sure: { customer_id: 'cus_1' } },
    expect: async (run) => {
      const { note, signature, deleted } = run.result;
      const text = await readFile(await run.filePath((note as { path: string }).path), 'utf8');
      assert.equal(text, 'Data of cus_1\nmail: had nothing\nshop: deleted');
      assert.equal(signature, createHmac('sha256', madeUpSecret('SIGNING_KEY')).update(text).digest('hex'));
      assert.equal(deleted, 1);
    },
  },
  {
    method: 'delete-personal-data',
    shows: 'a system that fails is reported in a ticket, after the others were asked',
    inputs: {
      customer_id: 'cus_1',
      systems: { a: 'https://a.example.com', b: 'https://b.example.com' },
      requested: '2026-01-01',
    },
    world: {
      'DELETE a.example.com/cus_1': { status: 500 },
      'DELETE b.example.com/cus_1': { status: 204 },
      'POST desk.example.com/api/tickets': {},
    },
    answers: { sure: { customer_id: 'cus_1' } },
    expect: (run, world) => {
      assert.equal(run.outcome.status === 'failed' && run.outcome.error.step, 'complete');
      assert.equal(world.requests('DELETE a.example.com/cus_1').length, 3);
      assert.equal(run.record('complete').checks[0]?.message, '1 of 2 systems failed');
      const ticket = 'Deletion of cus_1 stopped in complete; the deadline counts from 2026-01-01.';
      assert.equal(world.requests('POST desk.example.com/api/tickets')[0]?.text, ticket);
    },
  },
  {
    method: 'triage-ticket',
    shows: 'another method classifies; a doubtful ticket goes to a person',
    inputs: { ticket_id: 't/1' },
    world: {
      'GET desk.example.com/api/tickets/t%2F1': {
        json: { subject: 'It crashes', body: 'Always', customer: { id: 'c', plan: 'enterprise' } },
      },
      'PATCH desk.example.com/api/tickets/t%2F1': ({ json }) => ({
        json: { id: 't1', team: (json as { team: string }).team },
      }),
      'POST desk.example.com/api/tickets/t%2F1/replies': {},
    },
    answers: { review: { team: 'trust', reply: 'We look into it' } },
    expect: (run, world) => {
      assert.deepEqual(run.result, { team: 'trust', by: 'person' });
      assert.equal(run.questions[0]?.details, 'The classifier says bug (90 %).');
      assert.equal(run.record('classify/match').kind, 'node');
      assert.deepEqual(world.requests('PATCH desk.example.com/api/tickets/t%2F1')[0]?.json, {
        team: 'trust',
        priority: 'normal',
      });
    },
  },
];
