// Owns the kind of a step: exactly one (M108, M109), and the keys without a meaning for it (M111).
import type { StepKind } from '../../compiled-method.ts';
import type { SourceEntry, SourceMap } from '../../source/source-node.ts';
import { KINDS } from '../keys.ts';
import type { MethodContext } from '../step-context.ts';

export interface GivenKind {
  readonly key: StepKind;
  readonly entry: SourceEntry;
}

const INSIDE = 'put it on the steps inside';

// Key to hint; '' for the plain one.
const WITHOUT_MEANING: Readonly<Record<StepKind, Readonly<Record<string, string>>>> = {
  node: { result: 'code declares out:' },
  python: { result: 'code declares out:' },
  shell: { result: 'code declares out:' },
  http: {
    in: 'write  ${…}  or  =…  in the fields of http',
    secrets: 'name the secret in auth, or write  =secrets.NAME  as a whole field',
    stdout: 'use take',
    result: 'use take and out',
  },
  ask: {
    in: 'write  ${…}  in the question',
    secrets: 'a secret is never shown',
    retry: '',
    on_interrupt: '',
    stdout: '',
    result: 'use out: the form of the answer',
  },
  call: {
    secrets: 'the called method declares its own',
    retry: 'put it on the steps of the called method',
    on_interrupt: 'put it on the steps of the called method',
    stdout: '',
    result: 'use out',
  },
  wait: {
    in: '',
    out: '',
    secrets: '',
    repeat: '',
    ensure: '',
    retry: '',
    limits: '',
    on_interrupt: '',
    stdout: '',
    result: '',
  },
  check: {
    in: '',
    out: '',
    secrets: '',
    repeat: '',
    require: 'put it under check',
    ensure: 'put it under check',
    retry: '',
    limits: '',
    on_interrupt: '',
    stdout: '',
    result: '',
  },
  steps: {
    in: INSIDE,
    out: 'write  result: { name: =steps.inner.field }',
    secrets: INSIDE,
    retry: INSIDE,
    limits: INSIDE,
    on_interrupt: INSIDE,
    stdout: INSIDE,
  },
  parallel: {
    in: INSIDE,
    out: 'the steps inside can be read by their own names',
    secrets: INSIDE,
    retry: INSIDE,
    limits: INSIDE,
    on_interrupt: INSIDE,
    stdout: INSIDE,
    result: 'the steps inside can be read by their own names',
  },
  browser: { stdout: '', result: 'use out' },
  agent: { stdout: '', result: 'use out' },
};

/** The one kind; undefined with a finding. */
export function readKind(method: MethodContext, step: SourceMap, path: string): GivenKind | undefined {
  const { findings } = method;
  const present = KINDS.filter((kind) => step.entries.has(kind));
  const [key, second] = present;
  const entry = key === undefined ? undefined : step.entries.get(key);
  if (key === undefined || entry === undefined) {
    findings.add('M108', 'the step has no kind', path, step.range, { hint: `one of ${KINDS.slice(0, 10).join(', ')}` });
    return undefined;
  }
  if (second !== undefined) {
    findings.add(
      'M109',
      `the step has two kinds: ${present.join(' and ')}`,
      `${path}.${second}`,
      step.entries.get(second)?.keyRange ?? step.range,
      { hint: 'make two steps of it' },
    );
    return undefined;
  }
  for (const [unused, hint] of Object.entries(WITHOUT_MEANING[key])) {
    const without = step.entries.get(unused);
    if (!without) continue;
    findings.add('M111', `"${unused}" has no meaning for ${key}`, `${path}.${unused}`, without.keyRange, {
      hint: hint === '' ? 'remove it' : hint,
    });
  }
  return { key, entry };
}

/** The step's entry of a key, when the key has a meaning for the kind. */
export function usableEntry(step: SourceMap, kind: StepKind | undefined, key: string): SourceEntry | undefined {
  return kind !== undefined && Object.hasOwn(WITHOUT_MEANING[kind], key) ? undefined : step.entries.get(key);
}
