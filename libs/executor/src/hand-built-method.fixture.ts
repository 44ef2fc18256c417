// Compiled methods built by hand for tests, so that a step can get values that no compiler accepts.
import { compileCheck } from '@methods/method/check-value';
import type {
  CodeStep,
  CompiledExpression,
  CompiledMethod,
  CompiledStep,
  CompiledValue,
  HttpStep,
  OutFields,
} from '@methods/method/compiled-method';
import type { Scope } from '@methods/method/evaluate';
import { isJsonObject, type JsonObject, type JsonSchema, type JsonValue } from '@methods/method/json';

export function literal(value: JsonValue): CompiledValue {
  return { kind: 'literal', value };
}

export function expression(read: (scope: Scope) => JsonValue): CompiledExpression {
  return { kind: 'expression', source: 'made by hand', paths: [], size: 1, run: (frame) => read(frame.scope) };
}

/** `steps.a.b` of the scope. */
export function path(...names: string[]): CompiledExpression {
  return expression((scope) => {
    let value: JsonValue | undefined = scope as unknown as JsonObject;
    for (const name of names) value = isJsonObject(value) ? value[name] : undefined;
    return value ?? null;
  });
}

/** Declares fields by their JSON Schemas; all are required. */
export function out(properties: Record<string, JsonSchema>, more: Partial<OutFields> = {}): OutFields {
  const names = Object.keys(properties);
  const schema = { type: 'object', properties, required: names, additionalProperties: false };
  return { names, schema, hasSecret: false, hasFile: false, check: compileCheck(schema), ...more };
}

const LIMITS = {
  timeoutMs: 60_000,
  timeoutText: '1m',
  outputBytesMax: 256 * 1024,
  logBytesMax: 256 * 1024,
  memoryMb: 256,
  filesBytesMax: 1024 * 1024,
};

const PLAIN = { loop: null, require: [], ensure: [], retry: null, onError: 'fail', onInterrupt: 'rerun' } as const;

export function node(
  name: string,
  code: string,
  options: Omit<Partial<CodeStep>, 'limits' | 'inputs'> & {
    limits?: Partial<CodeStep['limits']>;
    inputs?: Record<string, CompiledValue>;
  } = {},
): CodeStep {
  const { limits, inputs, ...rest } = options;
  return {
    kind: 'node',
    name,
    line: 5,
    out: null,
    secrets: [],
    ...PLAIN,
    code,
    codeLine: 10,
    stdout: null,
    network: true,
    ...rest,
    inputs: new Map(Object.entries(inputs ?? {})),
    limits: { ...LIMITS, ...limits },
  };
}

export function http(
  name: string,
  url: string | CompiledValue,
  options: Omit<Partial<HttpStep>, 'limits'> & { limits?: Partial<HttpStep['limits']> } = {},
): HttpStep {
  const { limits, ...rest } = options;
  return {
    kind: 'http',
    name,
    line: 5,
    out: null,
    secrets: [],
    ...PLAIN,
    verb: 'get',
    url: typeof url === 'string' ? literal(url) : url,
    query: null,
    headers: null,
    auth: null,
    body: { kind: 'none' },
    accept: [],
    take: null,
    keepsFile: false,
    ...rest,
    limits: { ...LIMITS, ...limits },
  };
}

export function method(
  steps: CompiledStep[],
  result: Record<string, CompiledValue> = {},
  more: Partial<CompiledMethod> = {},
): CompiledMethod {
  return {
    format: 'method/2',
    name: 'by-hand',
    features: [...new Set(steps.map((step) => step.kind))].sort(),
    secrets: [...new Set(steps.flatMap((step) => step.secrets))].map((name) => ({ name })),
    limits: { runTimeoutMs: null, stepsMax: 1000 },
    inputSchema: { type: 'object' },
    resultSchema: { type: 'object' },
    dependencies: { node: null, python: null, npm: [], pip: [], commands: [] },
    lib: {},
    require: [],
    steps,
    ensure: [],
    onFailure: [],
    finally: [],
    tests: [],
    result: new Map(Object.entries(result)),
    ...more,
  };
}
