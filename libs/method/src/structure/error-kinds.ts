// Owns what expressions see of a failure: `error` in `retry.if`, `failure` in `on_failure` and `finally`.
import type { Root } from '../expression/compile-expression.ts';
import { type Field, INTEGER, type ObjectType, orNull, STRING, type Type } from '../types/type.ts';

/** The kinds of failure, as a step's record names them. */
export const ERROR_KINDS: readonly string[] = [
  ...['input', 'expression', 'check', 'out', 'exit', 'exception', 'syntax', 'timeout', 'memory', 'network', 'http'],
  ...['secret', 'limit', 'dependency', 'call', 'interrupted', 'worker_lost', 'internal'],
];

// As a choice, so that a misspelt kind is found (M408).
const KIND: Type = { kind: 'choice', values: ERROR_KINDS };

function closed(fields: Readonly<Record<string, Type>>): ObjectType {
  const entries = Object.entries(fields).map(([name, type]): [string, Field] => [name, { type, optional: false }]);
  return { kind: 'object', fields: new Map(entries) };
}

/** `error`: how the try failed. `status`, `headers` and `body` are those of an http answer, `code` that of the system, such as ECONNREFUSED. */
export const ERROR_ROOT: ReadonlyMap<string, Root> = new Map([
  [
    'error',
    {
      type: closed({
        kind: KIND,
        message: STRING,
        status: orNull(INTEGER),
        code: orNull(STRING),
        // Empty and null where no server answered.
        headers: { kind: 'map', of: STRING, bounds: {} },
        body: orNull(STRING),
      }),
      read: (frame) => frame.scope.error ?? null,
    },
  ],
]);

// Where a run can fail outside of its steps.
const OUTSIDE = ['', 'require', 'ensure', 'result'];

/**
 * `failure`: how the run failed, `step` being one of these names; in `finally` (not `certain`) null after a success. The
 * names make a choice: a rollback that waits for the failure of a misspelt step would never run.
 */
export function failureRoot(certain: boolean, names: Iterable<string>): ReadonlyMap<string, Root> {
  const step: Type = { kind: 'choice', values: [...new Set([...names, ...OUTSIDE])] };
  const failure = closed({ step, kind: KIND, message: STRING });
  const type = certain ? failure : orNull(failure);
  return new Map([['failure', { type, read: (frame) => frame.scope.failure ?? null }]]);
}
