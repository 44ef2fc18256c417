// Which node code is contained: it computes, waits, asks servers and prints by `console.log`, and reaches nothing of its
// process that code of another step could meet: no file, environment, output, other process or global object. So nothing
// is put back between such steps, and what they print is known to be theirs.
import type { AnyNode } from 'acorn';
import { CodeNames, type CodeRule } from './code-names.ts';
import { parseNodeCode } from './code-syntax.ts';
import { COMPUTING_BUILT_IN, COMPUTING_NODES } from './computing-code.ts';

const CHARACTERS_MAX = 20_000;
const NODES = new Set<AnyNode['type']>([
  ...COMPUTING_NODES,
  ...(['AwaitExpression', 'YieldExpression', 'ImportExpression', 'ThisExpression', 'Super'] as const),
  ...(['ClassDeclaration', 'ClassExpression', 'ClassBody', 'MethodDefinition', 'PropertyDefinition'] as const),
  ...(['PrivateIdentifier', 'StaticBlock', 'ImportDeclaration'] as const),
]);
const BUILT_IN = new Set([
  ...COMPUTING_BUILT_IN,
  ...[
    'step fetch Headers Request Response FormData Blob File URL URLSearchParams AbortController AbortSignal',
    'TextEncoder TextDecoder Buffer atob btoa crypto performance structuredClone Promise Symbol Proxy',
    'setTimeout clearTimeout setImmediate clearImmediate queueMicrotask WeakMap WeakSet ArrayBuffer DataView',
    'Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array Float32Array Float64Array',
    'AggregateError EvalError ReferenceError Event EventTarget',
  ]
    .join(' ')
    .split(' '),
]);
/** They only compute. */
const MODULES = new Set(
  ['assert', 'buffer', 'crypto', 'path', 'querystring', 'string_decoder', 'timers/promises', 'url', 'zlib'].flatMap(
    (name) => [name, `node:${name}`],
  ),
);
/** They make code of text, or hide a timer that is left behind. */
const MEMBERS = new Set(['constructor', 'unref']);
/** What is printed this way travels with its step; the rest of `console` keeps state, or leads to the outputs. */
const CALLS = new Map([['console', new Set(['log', 'info', 'warn', 'error', 'debug'])]]);
const CONTAINED: CodeRule = {
  nodes: NODES,
  builtIn: BUILT_IN,
  calls: CALLS,
  modules: MODULES,
  members: MEMBERS,
  mayWait: true,
};
/** Makes code of text, but for a class's own; or reads its values from a file. */
const REACHES = /\.\s*constructor\b|\bconstructor\b(?!\s*\()|\bSTEP_IN\b/;

/** `names`: the code's values. False also for code that does not parse. */
export function isContainedNodeCode(code: string, names: readonly string[]): boolean {
  if (code.length > CHARACTERS_MAX || REACHES.test(code)) return false;
  const whole = parseNodeCode(code, names);
  return !('message' in whole) && new CodeNames(names, CONTAINED).areKnown(whole);
}
