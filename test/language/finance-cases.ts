// Runs of the examples about money.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { type ExampleCase, madeUpSecret } from './example-case.ts';

const STATEMENT_SHA256 = '4890bf6b7a47e656288f7ee5eb3e2582b10bfbfeb1d85786e5eaef076cf94d2e';
const IBAN = 'DE02120300000000202051';

export const financeCases: readonly ExampleCase[] = [
  {
    method: 'refund-order',
    shows: 'a large refund asks a person, then sends the form once',
    inputs: { order_id: 'ord_1', amount: 250.5, reason: 'late' },
    world: {
      'GET shop.example.com/api/orders/ord_1': (_, asked) =>
        asked === 0
          ? { status: 503 }
          : { json: { charge_id: 'ch_1', customer: 'ann@example.com', total: 300, refunded: 0, more: 1 } },
      'POST api.stripe.com/v1/refunds': { json: { id: 're_1', status: 'pending' } },
    },
    answers: { approval: { decision: 'approve', note: 'Sorry' } },
    expect: (run, world) => {
      assert.deepEqual(run.result, { refunded: true, refund_id: 're_1', note: 'Sorry' });
      assert.equal(run.record('order').tries.length, 2);
      const [refund] = world.requests('POST api.stripe.com/v1/refunds');
      assert.equal(refund?.text, 'charge=ch_1&amount=25050');
      assert.match(String(refund?.headers['idempotency-key']), /^[0-9a-f]{32}$/);
      assert.equal(refund?.headers.authorization, `Bearer ${madeUpSecret('STRIPE_KEY')}`);
    },
  },
  {
    method: 'refund-order',
    shows: 'more than is left of an order is refused by a check, before anything is refunded',
    inputs: { order_id: 'ord_1', amount: 90, reason: 'other' },
    world: {
      'GET shop.example.com/api/orders/ord_1': {
        json: { charge_id: 'ch_1', customer: 'ann@example.com', total: 100, refunded: 20 },
      },
    },
    expect: (run) => {
      assert.equal(run.outcome.status === 'failed' && run.outcome.error.code, 'check_failed');
      const [check] = run.record('order').checks;
      assert.deepEqual(check?.values, { 'inputs.amount': 90, 'out.refunded': 20, 'out.total': 100 });
    },
  },
  {
    method: 'release-payroll',
    shows: 'a released payroll is paid once, in cents',
    inputs: { month: '2026-10', total: 42000.5, people: 12 },
    world: { 'POST bank.example.com/v2/batches': () => ({ json: { id: 'b_1' } }) },
    answers: { release: { decision: 'release', note: 'As agreed' } },
    expect: (run, world) => {
      assert.deepEqual(run.result, { paid: true, note: 'As agreed' });
      const sent = world.requests('POST bank.example.com/v2/batches').map(({ text }) => text);
      assert.deepEqual(sent, [JSON.stringify({ reference: 'Payroll 2026-10', cents: 4200050 })]);
    },
  },
  {
    method: 'pay-invoices',
    shows: 'two pages make one batch; a person releases it; each invoice is paid once, though one answer was lost',
    inputs: { due: '2026-02-01', release_above: 100 },
    world: {
      'GET erp.example.com/api/invoices': ({ query }) =>
        query.get('page') === null
          ? { json: { items: [{ id: 'i1', payee: 'ACME', iban: IBAN, amount: 80.25 }], next_page: 2 } }
          : { json: { items: [{ id: 'i2', payee: 'Blue', iban: IBAN, amount: 70 }], next_page: null } },
      'POST bank.example.com/v2/transfers': ({ json }, asked) =>
        asked === 0 ? { status: 503 } : { json: { id: `t_${asked}`, state: 'booked', given: json } },
    },
    answers: { release: { go: true } },
    expect: (run, world) => {
      assert.deepEqual(run.result, { paid: 2, total: 150.25, note: null });
      assert.equal(run.questions[0]?.prompt, 'Pay 2 invoices, 150.25 EUR together?');
      assert.match(run.questions[0]?.details ?? '', /The largest is 80.25 EUR/);
      const sent = world.requests('POST bank.example.com/v2/transfers');
      assert.equal(sent.length, 3);
      const bodies = new Set(sent.map(({ text }) => text));
      assert.deepEqual([...bodies].sort(), [
        JSON.stringify({ iban: IBAN, cents: 7000, reference: 'Invoice i2' }),
        JSON.stringify({ iban: IBAN, cents: 8025, reference: 'Invoice i1' }),
      ]);
      assert.equal(new Set(sent.map(({ headers }) => headers['idempotency-key'])).size, 2);
      assert.equal(
        world.requests('GET erp.example.com/api/invoices')[0]?.headers.authorization?.split(' ')[0],
        'Basic',
      );
    },
  },
  {
    method: 'reconcile-bank',
    shows: 'two files become a list of open items and a report that is uploaded',
    inputs: { month: '2026-01' },
    world: {
      'GET bank.example.com/v2/statements/2026-01.csv': { text: 'reference,amount\na,10\nb,2.50\nc,7\nd,5\n' },
      'GET ledger.example.com/export': {
        headers: { 'x-rows': '4' },
        text: 'reference,amount\na,10\nb,2.5\nc,7\nd,4\n',
      },
      'PUT archive.example.com/reconciliation/2026-01.txt': {},
    },
    expect: async (run, world) => {
      const { open, report } = run.result;
      assert.deepEqual(open, [{ reference: 'd', bank: 5, ledger: 4 }]);
      const text = await readFile(await run.filePath((report as { path: string }).path), 'utf8');
      assert.equal(text, 'd\t5.0\t4.0\n');
      assert.equal(world.requests('PUT archive.example.com/reconciliation/2026-01.txt')[0]?.text, text);
      const query = world.requests('GET ledger.example.com/export')[0]?.query.getAll('columns');
      assert.deepEqual(query, ['reference', 'amount']);
      const warned = run.checks.filter(({ status }) => status === 'warned');
      assert.deepEqual(
        warned.map(({ name, message }) => [name, message]),
        [['Nothing is open', 'Open are d']],
      );
    },
  },
  {
    method: 'import-statement',
    shows: 'a file among the inputs is read, and filed byte by byte under its own name',
    inputs: { opening: 100 },
    files: { statement: { name: 'januar ü.csv', content: 'date,payee,amount\n2026-01-05,Ann,10.50\n' } },
    world: { [`PUT archive.example.com/statements/${STATEMENT_SHA256}`]: {} },
    expect: (run, world) => {
      const { lines, closing, statement } = run.result;
      assert.deepEqual([lines, closing], [1, 110.5]);
      assert.equal((statement as { name: string }).name, 'januar ü.csv');
      const [filed] = world.requests(`PUT archive.example.com/statements/${STATEMENT_SHA256}`);
      assert.equal(filed?.text, 'date,payee,amount\n2026-01-05,Ann,10.50\n');
      assert.equal(filed?.query.get('name'), 'januar ü.csv');
    },
  },
  {
    method: 'approve-expenses',
    shows: 'the employee is asked again until there is a receipt, then the manager',
    inputs: { employee: 'Ann', amount: 120 },
    world: { 'POST payroll.example.com/expenses': { json: { id: 'e1' } } },
    answers: {
      'complete[0]': { receipts: 0 },
      'complete[1]': { receipts: 2 },
      'review/manager': { approve: true, paid_on: '2026-02-01' },
    },
    expect: (run, world) => {
      assert.deepEqual(run.result, { paid: true, told: null, id: 'e1' });
      assert.deepEqual(
        run.questions.map(({ step }) => step),
        ['complete[0]', 'complete[1]', 'review/manager'],
      );
      assert.match(run.questions[1]?.prompt ?? '', /^There is still no receipt\. Ann/);
      assert.equal(run.questions[2]?.timeoutText, '5d');
      assert.deepEqual(world.seen[0]?.json, { employee: 'Ann', cents: 12000, paid_on: '2026-02-01' });
      assert.equal(run.record('review/reason').status, 'skipped');
    },
  },
  {
    method: 'restock-shop',
    shows: 'each article is ordered where it is cheaper, a supplier that is away is passed over',
    inputs: { shop: 'main', budget: 100 },
    world: {
      'GET shop.example.com/main/articles': () => ({
        json: {
          counted_at: new Date().toISOString(),
          articles: [
            { sku: 'AB-1', stock: 0, sold_a_day: 1 },
            { sku: 'AB-2', stock: 2, sold_a_day: 4 },
            { sku: 'AB-3', stock: 99, sold_a_day: 1 },
          ],
        },
      }),
      'GET north.example.com/offers/AB-1': { json: { price: 5, days: 1 } },
      'GET south.example.com/offers/AB-1': { json: { price: 4, days: 9 } },
      'GET north.example.com/offers/AB-2': { json: { price: 30, days: 1 } },
      'GET south.example.com/offers/AB-2': { status: 500 },
      'POST south.example.com/orders': { json: { id: 'o1' } },
    },
    expect: (run, world) => {
      assert.deepEqual(run.result, { ordered: ['AB-1'], too_dear: ['AB-2'] });
      assert.equal(world.requests('POST south.example.com/orders')[0]?.text, 'sku=AB-1&pieces=14');
      assert.equal(run.record('orders[1]/offers/south').status, 'failed');
      assert.equal(run.record('orders[1]/small').status, 'skipped');
    },
  },
];
