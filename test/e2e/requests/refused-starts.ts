// Starts that are refused: each with the status, the code and the sentence of the interface, and without any trace.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { otherOrganization } from '../other-callers.ts';
import { countingSource, SavedMethod } from '../saved-method.ts';
import type { Stack } from '../stack.ts';
import { leavesRunsUnchanged } from '../unchanged-runs.ts';

interface Refusal {
  readonly name: string;
  /** In place of the body of a good start. */
  readonly text?: () => string | Uint8Array<ArrayBuffer>;
  /** Over the fields of a good start. */
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: number;
  readonly error: string;
  readonly message: string;
  /** `path code` of the details, in order. */
  readonly details?: readonly string[];
}

const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const invalid = { status: 400, error: 'invalid_request' } as const;
const inputsInvalid = {
  status: 422,
  error: 'invalid_inputs',
  message: 'The inputs do not match their declared types.',
} as const;

export function refusedStarts(stack: () => Stack): void {
  const greet = () => stack().method('greet');
  const withExtra = (extra: string) => () => `{"method":"${greet()}","inputs":{"extra":${extra}}}`;

  const refusals: readonly Refusal[] = [
    { name: 'malformed JSON', text: () => '{"method":', ...invalid, message: 'The body is not JSON.' },
    { name: 'no UTF-8', text: () => Buffer.from([0x7b, 0xff, 0x7d]), ...invalid, message: 'The body is not UTF-8.' },
    { name: 'a list', text: () => '[]', ...invalid, message: 'The body has to be an object.', details: [' type'] },
    { name: 'null', text: () => 'null', ...invalid, message: 'The body has to be an object.', details: [' type'] },
    {
      name: 'a body that is not called JSON',
      headers: { 'content-type': 'text/plain' },
      ...invalid,
      message: 'The body has to be JSON, with content-type: application/json.',
    },
    {
      name: 'no method',
      fields: { method: undefined },
      ...invalid,
      message: '"method" is missing.',
      details: ['/method required'],
    },
    {
      name: 'a number for the method',
      fields: { method: 5 },
      ...invalid,
      message: '"method" has to be a text.',
      details: ['/method type'],
    },
    {
      name: 'a list for the inputs',
      fields: { inputs: [] },
      ...invalid,
      message: '"inputs" has to be an object.',
      details: ['/inputs type'],
    },
    {
      name: 'an unknown field, with what was meant',
      fields: { idempotencykey: 'x' },
      ...invalid,
      message: 'There is no field "idempotencykey". Did you mean "idempotency_key"?',
      details: ['/idempotencykey unknown_field'],
    },
    {
      name: 'a key of seven characters',
      fields: { idempotency_key: 'seven77' },
      ...invalid,
      message: '"idempotency_key" has at least 8 characters.',
      details: ['/idempotency_key idempotency_key_length'],
    },
    {
      name: 'a key of 201 characters',
      fields: { idempotency_key: 'k'.repeat(201) },
      ...invalid,
      message: '"idempotency_key" has at most 200 characters.',
      details: ['/idempotency_key idempotency_key_length'],
    },
    {
      name: 'an answerer there is not',
      fields: { answer_by: 'nobody' },
      ...invalid,
      message: '"answer_by" has to be one of application, team.',
      details: ['/answer_by enum'],
    },
    {
      name: 'metadata that is not text',
      fields: { metadata: { a: 1 } },
      ...invalid,
      message: '"metadata.a" has to be a text.',
      details: ['/metadata/a type'],
    },
    {
      name: '33 pairs of metadata',
      fields: { metadata: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`k${i}`, ''])) },
      ...invalid,
      message: '"metadata" has at most 32 entries.',
      details: ['/metadata metadata_pairs'],
    },
    {
      name: 'an unknown query parameter',
      query: '?wait=5',
      ...invalid,
      message: 'There is no field "wait".',
      details: ['/wait unknown_field'],
    },
    {
      name: 'a wait that is no number',
      query: '?wait_ms=soon',
      ...invalid,
      message: '"wait_ms" has to be a whole number.',
      details: ['/wait_ms type'],
    },
    {
      name: 'a wait over a minute',
      query: '?wait_ms=60001',
      ...invalid,
      message: '"wait_ms" is at most 60000.',
      details: ['/wait_ms wait_ms'],
    },
    {
      name: 'a body of 2 MiB',
      text: withExtra(`"${'x'.repeat(2 << 20)}"`),
      status: 413,
      error: 'too_large',
      message: 'A request body has at most 1048576 bytes.',
      details: [' body_bytes'],
    },
    {
      name: 'inputs over 256 KiB',
      fields: { inputs: { extra: 'x'.repeat(256 * 1024) } },
      status: 413,
      error: 'too_large',
      message: 'The inputs have at most 262144 bytes, with their defaults.',
      details: ['/inputs inputs_bytes'],
    },
    {
      name: 'nesting of 65',
      text: withExtra(deep(63)),
      ...invalid,
      message: 'JSON nests at most 64 deep.',
      details: [`/inputs/extra${'/0'.repeat(62)} json_depth`],
    },
    {
      name: 'NUL',
      text: withExtra('"a\\u0000b"'),
      ...invalid,
      message: 'A text holds the character U+0000.',
      details: ['/inputs/extra nul'],
    },
    {
      name: 'NUL in a name',
      text: withExtra('{"a\\u0000":1}'),
      ...invalid,
      message: 'A text holds the character U+0000.',
      details: ['/inputs/extra/a\uFFFD nul'],
    },
    {
      name: 'half of a surrogate pair',
      text: withExtra('"\\ud800"'),
      ...invalid,
      message: 'A text holds half of a surrogate pair.',
      details: ['/inputs/extra lone_surrogate'],
    },
    {
      name: '1e400',
      text: withExtra('1e400'),
      ...invalid,
      message: 'A number is too large.',
      details: ['/inputs/extra number_range'],
    },
    {
      name: '2^53',
      text: withExtra('9007199254740992'),
      ...invalid,
      message: 'A whole number is beyond ±(2^53 − 1).',
      details: [' number_range'],
    },
    {
      name: 'inputs of other types, each with its place',
      fields: { inputs: { name: 5, times: 11, tags: ['a', ''] } },
      ...inputsInvalid,
      details: ['/name type', '/times too_large', '/tags/1 too_short'],
    },
    {
      name: 'a text for a number: nothing is converted',
      fields: { inputs: { times: '5' } },
      ...inputsInvalid,
      details: ['/times type'],
    },
    {
      name: 'an unknown input',
      fields: { inputs: { nmae: 'Ada' } },
      ...inputsInvalid,
      details: ['/nmae unknown_field'],
    },
    {
      name: 'a webhook URL of another scheme',
      fields: { webhook_url: 'ftp://example.com/' },
      status: 422,
      error: 'invalid_webhook_url',
      message: 'A webhook URL begins with https://.',
    },
    {
      name: 'a webhook URL with a password',
      fields: { webhook_url: 'https://me:secret@example.com/' },
      status: 422,
      error: 'invalid_webhook_url',
      message: 'A webhook URL holds no user name or password.',
    },
    {
      name: 'a webhook URL of 2049 characters',
      fields: { webhook_url: `https://example.com/${'x'.repeat(2029)}` },
      status: 400,
      error: 'invalid_request',
      message: '"webhook_url" has at most 2048 characters.',
      details: ['/webhook_url webhook_url_length'],
    },
    {
      name: 'an unknown method',
      fields: { method: 'wf_01m7y86kc4bk35r8p3tfrdmdyy' as const },
      status: 404,
      error: 'not_found',
      message: 'There is no such method.',
    },
    {
      name: 'a method id that cannot be one',
      fields: { method: 'greet' },
      status: 404,
      error: 'not_found',
      message: 'There is nothing here.',
    },
    {
      name: 'an unknown version',
      fields: { version: 'ver_01m7y86kc4bk35r8p3tfrdmdyy' },
      status: 404,
      error: 'not_found',
      message: 'There is no such version.',
    },
  ];

  describe('a start is refused, and nothing is kept, for', () => {
    for (const { name, text, fields, query = '', headers, status, error, message, details } of refusals) {
      test(name, async () => {
        const body = text?.() ?? JSON.stringify({ method: greet(), inputs: {}, ...fields });
        const reply = await leavesRunsUnchanged(stack(), () =>
          stack().api.request('POST', `/v1/runs${query}`, { text: body, ...(headers && { headers }) }),
        );
        const { refusal } = reply;
        assert.deepEqual([reply.status, refusal.error], [status, error], reply.text.slice(0, 500));
        assert.equal(refusal.message, message);
        assert.deepEqual(
          refusal.details?.map(({ path, code }) => `${path} ${code}`),
          details,
        );
        assert.equal(refusal.request_id, reply.headers.get('x-request-id'));
        assert.ok(reply.text.length < 2_000, 'a refusal does not send the request back');
      });
    }
  });

  describe('a start is refused for its method:', () => {
    let unpublished: SavedMethod;
    before(async () => {
      unpublished = await SavedMethod.create(stack(), countingSource(0));
    });
    const refused = async (body: object) => leavesRunsUnchanged(stack(), () => stack().api.start(body));

    test('one that is not published, unless its version is named', async () => {
      const reply = await refused({ method: unpublished.id, inputs: { n: 1 } });
      assert.equal(reply.status, 409);
      assert.equal(reply.refusal.error, 'not_published');
      assert.equal(reply.refusal.message, 'The method has no published version.');
      const version = unpublished.versionId;
      const started = await stack().api.start({ method: unpublished.id, inputs: { n: 1 }, version });
      assert.equal(started.status, 201);
      await stack().api.cancel(started.run.run_id);
    });

    test('a workflow/1 version, published or named', async () => {
      const old = await SavedMethod.create(
        stack(),
        'format: workflow/1\nworkflow: Weekly report\nsteps:\n  - name: Send\n    run: ./send.sh\n',
      );
      await old.publish();
      for (const version of ['published', old.versionId]) {
        const reply = await refused({ method: old.id, version });
        assert.equal(reply.status, 409);
        assert.equal(reply.refusal.error, 'needs_upgrade');
        assert.equal(reply.refusal.message, 'The version is in an old format that cannot be started.');
      }
    });

    test("another organization's, exactly as one that does not exist", async () => {
      const { orgId } = await otherOrganization(stack());
      const theirs = await SavedMethod.create(stack(), countingSource(0), orgId);
      await theirs.publish();
      const headers = { 'x-request-id': 'the-same' };
      const ask = async (method: string) =>
        (await stack().api.request('POST', '/v1/runs', { body: { method, inputs: { n: 1 } }, headers })).text;
      assert.equal(await ask(theirs.id), await ask('wf_01m7y86kc4bk35r8p3tfrdmdyy'));
    });
  });
}
