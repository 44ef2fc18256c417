// Owns the editor schema of a step: its keys, its kinds, and the mappings inside them.
import { ANSWERERS_MAX } from '../answer-policy.ts';
import type { JsonObject, JsonSchema } from '../json.ts';
import {
  AGENT_KEYS,
  ASK_KEYS,
  AUTH_KEYS,
  BROWSER_KEYS,
  CHECK_KEYS,
  ESCALATE_KEYS,
  HTTP_KEYS,
  KINDS,
  NEEDS_KEYS,
  type POLICY_KEYS,
  REPEAT_KEYS,
  RETRY_KEYS,
  STEP_KEYS,
  STEP_LIMIT_KEYS,
  TIMEOUT_KEYS,
  VERBS,
  WAIT_KEYS,
} from '../structure/keys.ts';
import { ANYTHING, type KeySchema, listOf, mapOf, mapping, oneOf, ref } from './schema-parts.ts';

const TEXT: JsonSchema = { type: 'string' };
const CODE: JsonSchema = { type: 'string', minLength: 1 };
const URL_TEXT: KeySchema = ['URL; inserted values are percent-encoded', TEXT];
const SECRET: JsonSchema = { type: 'string' };
/** Bare expressions: YAML may read one as a number or boolean. */
const EXPRESSION: JsonSchema = { type: ['string', 'boolean', 'number'] };
const VALUES: JsonSchema = mapOf(ANYTHING);

export const LIMIT_VALUES: Readonly<Record<string, KeySchema>> = {
  timeout: ['Deadline of each try, such as 30s, 5m or 3d', ref('duration')],
  timeout_ms: ['Deadline of each try in milliseconds', { type: 'integer', minimum: 1 }],
  memory_mb: ['Memory of code; 1024 unless given', { type: 'integer', minimum: 32 }],
  output_kb: ['Size of the out; 256 unless given', { type: 'integer', minimum: 1, maximum: 1_024 }],
  log_kb: ['Size of the log; 256 unless given', { type: 'integer', minimum: 1 }],
  files_mb: ['Size of all files; 100 unless given', { type: 'integer', minimum: 1 }],
  network: ['none: code without network, where the worker can isolate it', oneOf('none', 'open')],
  run_timeout: ['Running time of the whole run, waiting apart', ref('duration')],
  max_steps: [
    'Steps a run may take, rounds counted; 1000 unless given',
    { type: 'integer', minimum: 1, maximum: 10_000 },
  ],
};

/** One, or a list. */
const some = (items: JsonSchema): JsonSchema => ({ anyOf: [items, listOf(items)] });
const COUNT: JsonSchema = { type: 'integer', minimum: 1, maximum: ANSWERERS_MAX };

const POLICY_VALUES: Readonly<Record<(typeof POLICY_KEYS)[number], KeySchema>> = {
  to: ['Who may answer: e-mail addresses, admin, member, viewer', some(TEXT)],
  not_starter: ['true: not by the person who started the run', { type: 'boolean' }],
  needs: [
    'Same answer of this many people',
    {
      anyOf: [
        COUNT,
        mapping(
          NEEDS_KEYS,
          { count: ['People', COUNT], on: ['Fields that must be the same', listOf(TEXT)] },
          { required: ['count'] },
        ),
      ],
    },
  ],
  remind: ['Reminders after these times', some(ref('duration'))],
  escalate: [
    'Asks more people later',
    mapping(
      ESCALATE_KEYS,
      { after: ['', ref('duration')], to: ['Addresses and roles', some(TEXT)] },
      { required: ['after', 'to'] },
    ),
  ],
  on_timeout: [
    'After the deadline: fail, or { answer: … }',
    { anyOf: [oneOf('fail'), mapping(TIMEOUT_KEYS, { answer: ['', VALUES] }, { required: ['answer'] })] },
  ],
};

const STEP_VALUES: Readonly<Record<string, KeySchema>> = {
  name: ['Small letters, digits, _; unique in the file', { type: 'string', pattern: '^[a-z][a-z0-9_]{0,63}$' }],
  title: ['A name for people', TEXT],
  description: ['Markdown', TEXT],
  if: ['Condition; when false the step is skipped and steps.<name> is null', EXPRESSION],
  each: ['List expression: the step runs once for each item', TEXT],
  as: ['Name of the item; item unless given', { type: 'string', pattern: '^[a-z][a-z0-9_]{0,63}$' }],
  at_once: ['Rounds of each at the same time', { type: 'integer', minimum: 1, maximum: 50 }],
  repeat: [
    'Rounds in order until the condition holds',
    mapping(
      REPEAT_KEYS,
      {
        until: ['Condition; sees out and last', EXPRESSION],
        max: ['Most rounds', { type: 'integer', minimum: 1, maximum: 1_000 }],
        delay: ['Pause between rounds', ref('duration')],
      },
      { required: ['max'] },
    ),
  ],
  in: ['What code sees: [inputs.a, steps.b.c] or name: value', { anyOf: [listOf(TEXT), VALUES] }],
  out: ['Fields the step gives', ref('fields')],
  secrets: ['Declared secrets this code may read', listOf(SECRET)],
  require: ['Checks before the step', ref('checks')],
  ensure: ['Checks after the step; they see out', ref('checks')],
  retry: [
    'More tries after a failure that may pass',
    {
      anyOf: [
        { type: 'integer', minimum: 0, maximum: 20 },
        mapping(RETRY_KEYS, {
          max: ['More tries', { type: 'integer', minimum: 0, maximum: 20 }],
          delay: ['Pause before the next try; 1s unless given', ref('duration')],
          factor: ['Growth of the pause; 2 unless given', { type: 'number' }],
          max_delay: ['Longest pause; 1m unless given', ref('duration')],
          if: ['Condition on error.kind, .status, .code, .message, .headers, .body', EXPRESSION],
        }),
      ],
    },
  ],
  limits: ['Bounds of this step', mapping(STEP_LIMIT_KEYS, LIMIT_VALUES)],
  on_error: ['continue: a failure leaves steps.<name> null', oneOf('fail', 'continue')],
  on_interrupt: ['When the worker died in this step', oneOf('rerun', 'fail', 'ask')],
  stdout: ['Field of out that takes the printed text', TEXT],
  result: ['Out of a group: name: value', VALUES],
  node: ['JavaScript: body of an async function', CODE],
  python: ['Python: body of a function', CODE],
  shell: ['Bash with -euo pipefail', CODE],
  http: [
    'A request: one verb with its URL',
    mapping(
      HTTP_KEYS,
      {
        ...Object.fromEntries(VERBS.map((verb) => [verb, URL_TEXT])),
        query: ['name: value; null is left out', VALUES],
        headers: ['Name: value; null is left out', VALUES],
        auth: [
          'Credentials by the names of secrets',
          mapping(AUTH_KEYS, {
            bearer: ['', SECRET],
            basic: ['[user, password]', listOf(SECRET, { minItems: 2, maxItems: 2 })],
            header: ['Name of the header; with secret', TEXT],
            secret: ['', SECRET],
          }),
        ],
        json: ['Body: JSON', ANYTHING],
        form: ['Body: form fields', VALUES],
        text: ['Body: text', ANYTHING],
        file: ['Body: a file', TEXT],
        accept: ['Statuses that are fine besides 2xx', listOf({ type: 'integer' })],
        take: ['field: expression over response.status, .headers, .body, .file', mapOf(EXPRESSION)],
      },
      { oneOf: VERBS.map((verb) => ({ required: [verb] })) },
    ),
  ],
  ask: [
    'A question to a person; out is the form',
    {
      anyOf: [
        TEXT,
        mapping(
          ASK_KEYS,
          {
            question: ['', TEXT],
            details: ['More text', TEXT],
            show: ['Paths shown beside the question', listOf(TEXT)],
            ...POLICY_VALUES,
          },
          { required: ['question'] },
        ),
      ],
    },
  ],
  call: ['Another method: wf_id, wf_id@version, wf_id@published or ./file.method', TEXT],
  wait: [
    'A duration, or { until: expression }',
    {
      anyOf: [
        ref('duration'),
        mapping(WAIT_KEYS, { until: ['Expression of a datetime', TEXT] }, { required: ['until'] }),
      ],
    },
  ],
  check: ['Checks as a step', ref('checks')],
  steps: ['A group of steps', ref('steps')],
  parallel: ['Steps at the same time; they do not see each other', ref('steps')],
  browser: [
    'Steps in a browser; needs a worker that has one',
    mapping(
      BROWSER_KEYS,
      { start: ['First URL', TEXT], do: ['Actions', listOf({ type: 'object' })] },
      { required: ['do'] },
    ),
  ],
  agent: [
    'An agent; needs a worker that has one',
    mapping(
      AGENT_KEYS,
      { goal: ['', TEXT], tools: ['', ANYTHING], max_turns: ['', { type: 'integer', minimum: 1 }] },
      { required: ['goal'] },
    ),
  ],
};

/** `human` and `outputs`: the older spellings, which only workflow/2 reads. */
const OLDER: JsonObject = {
  human: { description: 'ask, in workflow/2', deprecated: true },
  outputs: { $ref: '#/$defs/fields', description: 'out, in workflow/2', deprecated: true },
};

export function stepSchema(): JsonSchema {
  const { properties, ...step } = mapping(STEP_KEYS, STEP_VALUES, {
    required: ['name'],
    oneOf: [...KINDS, 'human'].map((kind) => ({ required: [kind] })),
  });
  return { ...step, properties: { ...(properties as JsonObject), ...OLDER } };
}

/** A list of checks, short or long. */
export function checksSchema(): JsonSchema {
  const long = mapping(
    CHECK_KEYS,
    {
      name: ['The sentence', TEXT],
      that: ['The condition', EXPRESSION],
      level: ['warn: noted only', oneOf('error', 'warn')],
      message: ['Text shown when it fails', TEXT],
    },
    { required: ['name', 'that'] },
  );
  const short = { ...mapOf(EXPRESSION), maxProperties: 1, minProperties: 1 };
  return listOf({ anyOf: [short, long] }, { minItems: 1, description: '- Sentence: expression' });
}
