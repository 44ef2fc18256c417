// A replacement of a step's action, for tests of a method: its checks, retries and records are the real ones.
import type { CompiledStep } from '@methods/method/compiled-method';
import type { Scope } from '@methods/method/evaluate';
import { isJsonObject, type JsonValue, objectOf } from '@methods/method/json';
import type { RunFolder } from './run-folder.ts';
import type { ActionEnd } from './step-context.ts';
import { type ErrorKind, StepFailure } from './step-failure.ts';

export interface SubstitutedAction {
  readonly step: CompiledStep;
  /** With the round where there is one: `pages[2]`. */
  readonly path: string;
  /** Of the step's own loop, from 0; null outside of one. */
  readonly round: number | null;
  /** 1 for the first try. */
  readonly tryNumber: number;
  readonly scope: Scope;
}

type Scalar = string | number | boolean | null;

/** `out`: what the action returns (of an ask: its answer); `{ $file: text }` in it becomes a file of that content. */
export type Substitution =
  | { readonly out: JsonValue }
  | {
      readonly error: {
        readonly kind: ErrorKind;
        readonly message?: string;
        readonly status?: number;
        readonly code?: string | number;
        /** The server's answer, of kind `http`. Scalars of YAML count as the texts they are written as. */
        readonly reason?: Scalar;
        readonly headers?: Readonly<Record<string, Scalar>>;
        readonly body?: Scalar;
      };
    };

/** Called before each try of a code, http, call, wait or ask step. Null: the step runs normally. Must not throw. */
export type Substitute = (action: SubstitutedAction) => Substitution | null | Promise<Substitution | null>;

/** The outcome of the substitution, as if the step had acted. */
export async function substituted(
  substitution: Substitution,
  { step, path }: Pick<SubstitutedAction, 'step' | 'path'>,
  folder: RunFolder,
): Promise<ActionEnd> {
  const nothing = { failure: null, checks: [], log: null };
  if ('error' in substitution) {
    const { kind, message, reason, headers, body, ...detail } = substitution.error;
    const answer = {
      reason: String(reason ?? ''),
      // A real answer's names are in lower case too.
      headers: objectOf(Object.entries(headers ?? {}).map(([name, text]) => [name.toLowerCase(), String(text ?? '')])),
      body: String(body ?? ''),
    };
    const failure = new StepFailure(kind, message ?? `The mock says: ${kind}`, {
      ...detail,
      ...(kind === 'http' ? { answer } : {}),
    });
    return { ...nothing, returned: undefined, failure };
  }
  if (step.out?.hasFile === true) await folder.clearStep(path);
  let files = 0;
  const returned = await withFiles(substitution.out, async (text) => {
    const content = async function* () {
      yield Buffer.from(text);
    };
    return folder.write(path, `file-${++files}`, content(), 'text/plain');
  });
  if (step.kind !== 'http') return { ...nothing, returned };
  return { ...nothing, returned, response: { status: 200, headers: {}, body: returned, file: null } };
}

async function withFiles(value: JsonValue, make: (text: string) => Promise<JsonValue>): Promise<JsonValue> {
  if (typeof value !== 'object' || value === null) return value;
  if (!isJsonObject(value)) {
    const items: JsonValue[] = [];
    for (const item of value) items.push(await withFiles(item, make));
    return items;
  }
  if (typeof value.$file === 'string') return make(value.$file);
  const members: [string, JsonValue][] = [];
  for (const [name, member] of Object.entries(value)) members.push([name, await withFiles(member, make)]);
  return objectOf(members);
}
