// Recordings of browsers become drafts that compile; drafts never contain people's logins.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { compileMethod } from '../compile.ts';
import { type CompiledRecording, compileRecording } from './compile-recording.ts';

function fixture(name: string): string {
  return readFileSync(new URL(`./fixtures/${name}`, import.meta.url), 'utf8');
}

function draftOf(json: string, name?: string): { source: string; draft: CompiledRecording } {
  const draft = compileRecording(json, name === undefined ? {} : { name });
  assert.ok(draft.source !== null, JSON.stringify(draft.findings));
  const { method, diagnostics } = compileMethod(draft.source);
  assert.ok(method, JSON.stringify(diagnostics));
  return { source: draft.source, draft };
}

test('a shop recording becomes http steps that hand their values on', () => {
  const { source, draft } = draftOf(fixture('shop-refund.har'));
  assert.equal(
    source.slice(source.indexOf('format:')),
    `format: method/2
name: refund-an-order
title: Refund an order

inputs:
  status: { $type: string, $examples: [ open ] }
  amount: { $type: number, $examples: [ 20.25 ] }
  note: { $type: string, $examples: [ late parcel ] }
  sku: { $type: string, $examples: [ A-100 ] }
  qty: { $type: integer, $examples: [ 1 ] }
  tags: { $type: list<string>, $examples: [ [ goodwill, parcel ] ] }

secrets: { EXAMPLE_TOKEN: Sent as Bearer to api.example.com }

steps:
  - name: get_orders
    http:
      get: https://api.example.com/v1/orders
      query: { status: =inputs.status, page: '1' }
      headers: { X-Shop-Tenant: north }
      auth: { bearer: EXAMPLE_TOKEN }
      take: { id: 'response.body.items[1].id' }
    out: { id: string }
    ensure:
      - get_orders answers 200: response.status == 200

  - name: get_orders_2
    http:
      get: https://api.example.com/v1/orders/\${steps.get_orders.id}
      query: { expand: payment }
      headers: { X-Shop-Tenant: north }
      auth: { bearer: EXAMPLE_TOKEN }
      take: { id: response.body.id, charge_id: response.body.payment.charge_id }
    out: { id: string, charge_id: string }
    ensure:
      - get_orders_2 answers 200: response.status == 200

  - name: post_orders_refunds
    http:
      post: https://api.example.com/v1/orders/\${steps.get_orders_2.id}/refunds
      headers: { X-Shop-Tenant: north }
      auth: { bearer: EXAMPLE_TOKEN }
      json:
        charge: =steps.get_orders_2.charge_id
        amount: =inputs.amount
        note: =inputs.note
        notify: true
        lines:
          - { sku: =inputs.sku, qty: =inputs.qty }
        tags: =inputs.tags
    out: { id: string }
    ensure:
      - post_orders_refunds answers 201: response.status == 201
    on_interrupt: ask

  - name: get_refunds
    http:
      get: https://api.example.com/v1/refunds/\${steps.post_orders_refunds.id}
      headers: { X-Shop-Tenant: north }
      auth: { bearer: EXAMPLE_TOKEN }
    out: { receipt: string }
    ensure:
      - get_refunds answers 200: response.status == 200

  - name: put_receipts
    http:
      put: https://api.example.com/v1/receipts/\${steps.get_refunds.receipt}
      headers: { X-Shop-Tenant: north }
      auth: { bearer: EXAMPLE_TOKEN }
      json: { sent: true }
    ensure:
      - put_receipts answers 204: response.status == 204
    on_interrupt: ask
`,
  );
  assert.deepEqual(
    draft.findings.map(({ code, place }) => [code, place]),
    [
      ['failed_request', 'log.entries[4]'],
      ['repeated_request', 'log.entries[11]'],
      ['other_site', ''],
      ['login_left_out', 'log.entries[5]'],
      ['first_of_list', 'log.entries[9]'],
    ],
  );
  assert.deepEqual(draft.secrets, ['EXAMPLE_TOKEN']);
  for (const { message } of draft.findings) assert.ok(source.includes(`#  - ${message}`), message);
});

test('the same recording always gives the same draft, and its name may be given', () => {
  const json = fixture('shop-refund.har');
  assert.deepEqual(compileRecording(json), compileRecording(json));
  const { source } = draftOf(json, 'Rückgabe: 2. Versuch');
  assert.match(source, /^name: ruckgabe-2-versuch$/m);
  assert.match(source, /^title: 'Rückgabe: 2\. Versuch'$/m);
});

test('forms, GraphQL, cookies and uploads', () => {
  const { source, draft } = draftOf(fixture('intranet-forms.har'));
  assert.match(source, /^name: intra-example-co-uk-recording$/m);
  assert.match(source, /out: \{ csrf: secret, key: string \}/);
  assert.match(source, /headers: \{ X-Csrf-Token: =steps\.get_me\.csrf \}/);
  assert.match(source, /team: \[ =steps\.get_me\.key, =steps\.get_me\.key \]/);
  assert.match(source, /api_key: =secrets\.API_KEY/);
  // The page the form led to answered 200; the redirect itself is not seen in a run.
  assert.match(source, /post_tickets answers 200/);
  assert.match(source, /query: \|-\n +mutation AddNote\(\$id: ID!, \$text: String!\) \{/);
  assert.match(source, /\/tickets\/\$\{inputs\.id\}\/files/);
  assert.match(source, /auth: \{ basic: \[ EXAMPLE_USER, EXAMPLE_PASSWORD \] \}/);
  assert.deepEqual(
    draft.findings.map(({ code }) => code),
    ['other_site', 'upload', 'example_left_out', 'cookies'],
  );
});

test('a Chrome Recorder file becomes one browser step', () => {
  const { source, draft } = draftOf(fixture('book-table.recorder.json'));
  assert.match(source, /start: https:\/\/tables\.example\.com\/login\n/);
  assert.match(
    source,
    /on: \[ aria\/E-mail, '#email', 'xpath\/\/\/\*\[@id="email"\]', pierce\/#email \]\n +value: =inputs\.e_mail/,
  );
  assert.match(source, /on: \[ aria\/Password, '#pw', 'input\[type="password"\]' \], value: =secrets\.PASSWORD/);
  assert.match(source, /on: \[ text\/Sign in, '\[data-testid="login"\]', form button \]/);
  assert.match(source, /on: \[ aria\/Guests, \[ book-form, '#guests' \] \], value: =inputs\.guests, frame: \[ 0, 1 \]/);
  assert.match(source, /- Page 2 has the recorded title: out\.title_2 == "Book \\"your\\" table"/);
  assert.match(source, /- \{ press: Tab \}/);
  assert.deepEqual(draft.inputs, ['e_mail', 'guests', 'typed']);
  assert.deepEqual(compileMethod(source).method?.features, ['browser']);
  assert.deepEqual(
    compileMethod(source).diagnostics.map(({ code }) => code),
    ['M110'],
  );
});

test('passwords, tokens and cookies are in no draft and no finding', () => {
  for (const name of ['shop-refund.har', 'intranet-forms.har', 'book-table.recorder.json']) {
    const json = fixture(name);
    const text = JSON.stringify(compileRecording(json));
    for (const word of ['hunter2', 'tok_8f2b', 's3ss10n', 'csrf-77aa', 'k-123456', 'YW5uOmh1']) {
      assert.ok(!text.includes(word), `${word} of ${name}`);
    }
  }
});

/** A HAR of requests to one site. */
function har(
  ...entries: readonly {
    method?: string;
    url: string;
    body?: unknown;
    answer?: unknown;
    status?: number;
    headers?: Record<string, string>;
  }[]
): string {
  return JSON.stringify({
    log: {
      version: '1.2',
      entries: entries.map(({ method = 'GET', url, body, answer = {}, status = 200, headers = {} }) => ({
        request: {
          method,
          url: url.startsWith('/') ? `https://a.example.com${url}` : url,
          headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
          ...(body === undefined ? {} : { postData: { mimeType: 'application/json', text: JSON.stringify(body) } }),
        },
        response: { status, content: { mimeType: 'application/json', text: JSON.stringify(answer) } },
      })),
    },
  });
}

test('texts that look like expressions stay texts', () => {
  const { source } = draftOf(
    har({ method: 'POST', url: '/q?limit==1&sort=${x}', body: { query: '{ a(b: "${c}") }', operationName: '=x' } }),
  );
  const step = compileMethod(source).method?.steps[0];
  assert.ok(step?.kind === 'http');
  const [body, query] = [step.body, step.query].map((value) => JSON.stringify(value));
  assert.ok(body?.includes('{ a(b: \\"${c}\\") }'), body);
  assert.ok(query?.includes('"${x}"'), query);
});

test('texts that no source could hold unchanged do not prevent the draft', () => {
  const { source } = draftOf(
    har({ method: 'POST', url: '/notes', body: { note: 'Hello:\nworld', odd: 'a\0b\ud800', '\0': 1 } }),
  );
  assert.match(source, /note: \{ \$type: text, \$examples: \[ "Hello:\\nworld" \] \}/);
  assert.match(source, /odd: \{ \$type: string, \$examples: \[ a\uFFFDb\uFFFD \] \}/);
  const click = (selector: string) => ({ type: 'click', selectors: [[selector], ['pierce/#a', selector]] });
  const asserted = (url: string) => ({
    type: 'click',
    selectors: ['#a'],
    assertedEvents: [{ type: 'navigation', url }],
  });
  const recorder = draftOf(
    JSON.stringify({
      title: 'Odd',
      steps: [
        click('aria/Total ${sum'),
        click('=a'),
        { type: `${'x'.repeat(39)}\u{1f600}` },
        { ...click('#b'), frame: [2 ** 60, 1] },
        asserted(`https://a.example/?${'x'.repeat(5_000)}`),
        ...Array.from({ length: 101 }, (_, page) => asserted(`https://a.example/${page}`)),
      ],
    }),
  );
  assert.match(recorder.source, /aria\/Total \$\$\{sum/);
  assert.equal(recorder.draft.findings.filter(({ message }) => /the check of a page/.test(message)).length, 2);
});

test('a password is a secret under any casing, the same one where it is sent again, and never comes from an answer', () => {
  const { source, draft } = draftOf(
    har(
      { url: '/hint', answer: { tip: 'pass-word-1' } },
      { method: 'POST', url: '/users', body: { confirm: 'pass-word-1', newPassword: 'pass-word-1', shipping: 'ups1' } },
    ),
  );
  assert.match(
    source,
    /confirm: =secrets\.NEW_PASSWORD\n +newPassword: =secrets\.NEW_PASSWORD\n +shipping: =inputs\.shipping\n/,
  );
  assert.deepEqual(draft.secrets, ['NEW_PASSWORD']);
});

test('a login of which more than the token is used stays, with its password a secret', () => {
  const { source } = draftOf(
    har(
      {
        method: 'POST',
        url: '/login',
        body: { user: 'ann', password: 'hunter22' },
        answer: { token: 'tok-12345678', me: 'user-77' },
      },
      { url: '/users/user-77', headers: { Authorization: 'Bearer tok-12345678' } },
    ),
  );
  assert.match(source, /password: =secrets\.PASSWORD/);
  assert.match(source, /\$\{steps\.post_login\.me\}/);
  assert.ok(!source.includes('hunter22') && !source.includes('tok-12345678'));
});

test('tokens in addresses or under harmless names are not kept', () => {
  const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJl';
  const { source } = draftOf(
    har({
      method: 'POST',
      url: `/reset/${jwt}?next=${jwt}`,
      body: { data: jwt, list: [jwt, 'x'] },
      headers: { 'X-State': jwt },
    }),
  );
  assert.ok(!source.includes('eyJ'), source);
});

test('a credential within a query, an address or a failed request is not kept', () => {
  const texts = [
    har({ method: 'POST', url: '/graphql', body: { query: 'mutation { login(password: "hunter22") { id } }' } }),
    har({ method: 'POST', url: '/reset/hunter22hunter22hunter22hunter22', status: 404 }, { url: '/a/1' }),
    har(
      { method: 'POST', url: '/login', body: { pwd: 'hunter22' }, status: 401 },
      { url: '/a/hunter22?page=hunter22' },
    ),
    JSON.stringify({
      steps: [
        { type: 'navigate', url: 'https://u:hunter22@a.example.com/?access_token=hunter22&x=1#id_token=hunter22' },
        { type: 'change', value: 'hunter22', selectors: [['aria/Again']] },
        { type: 'change', value: 'hunter22', selectors: [['#pw'], ['input[type=password]']] },
      ],
    }),
  ];
  for (const json of texts) {
    const text = JSON.stringify(compileRecording(json));
    assert.ok(!text.includes('hunter22'), text);
    assert.ok(text.includes('method/2'), text);
  }
});

const REFUSED: readonly (readonly [what: string, json: string, code: string])[] = [
  ['text', 'hello', 'not_json'],
  ['nothing', '', 'not_json'],
  ['other JSON', '[1]', 'unknown_recording'],
  ['steps of something else', '{"steps":[{"run":"ls"}]}', 'unknown_recording'],
  ['an empty log', '{"log":{"entries":[]}}', 'nothing_recorded'],
  ['only assets', har({ url: '/a.css' }, { url: '/b.png' }), 'nothing_recorded'],
  ['a Recorder file in which nothing is done', '{"steps":[{"type":"setViewport"}]}', 'nothing_recorded'],
  ['too many entries', `{"log":{"entries":[${'0,'.repeat(20_000)}0]}}`, 'too_many_entries'],
  ['too many bytes', `"${'x'.repeat(200 * 1_048_576)}"`, 'too_large'],
  ['too deep', '['.repeat(201), 'too_many_entries'],
];

for (const [what, json, code] of REFUSED) {
  test(`${what} gives no draft, and says so`, () => {
    const { source, findings } = compileRecording(json);
    assert.equal(source, null);
    assert.equal(findings[0]?.code, code);
  });
}
