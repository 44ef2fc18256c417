// Owns the judgement of node code that computes: plain code does nothing else, contained code also waits, asks servers
// and prints.
import type { AnyNode } from 'acorn';
import { CodeNames, type CodeRule } from './code-names.ts';
import { parseNodeCode } from './code-syntax.ts';

/** Built-ins without state and without reach; what can be done to them, the runner prevents. */
const COMPUTING_BUILT_IN: ReadonlySet<string> = new Set(
  [
    'Object Array String Number Boolean BigInt Math JSON Date Map Set RegExp Intl',
    'Error TypeError RangeError SyntaxError URIError',
    'parseInt parseFloat isNaN isFinite encodeURI encodeURIComponent decodeURI decodeURIComponent',
    'NaN Infinity undefined',
  ]
    .join(' ')
    .split(' '),
);
const COMPUTING_NODES: ReadonlySet<AnyNode['type']> = new Set<AnyNode['type']>([
  ...(['FunctionExpression', 'ArrowFunctionExpression', 'FunctionDeclaration', 'BlockStatement'] as const),
  ...(['VariableDeclaration', 'VariableDeclarator', 'ExpressionStatement', 'EmptyStatement'] as const),
  ...(['IfStatement', 'SwitchStatement', 'SwitchCase', 'ReturnStatement', 'ThrowStatement'] as const),
  ...(['ForStatement', 'ForInStatement', 'ForOfStatement', 'WhileStatement', 'DoWhileStatement'] as const),
  ...(['BreakStatement', 'ContinueStatement', 'LabeledStatement', 'TryStatement', 'CatchClause'] as const),
  ...(['Identifier', 'Literal', 'TemplateLiteral', 'TemplateElement', 'TaggedTemplateExpression'] as const),
  ...(['ArrayExpression', 'ObjectExpression', 'Property', 'SpreadElement', 'RestElement'] as const),
  ...(['ArrayPattern', 'ObjectPattern', 'AssignmentPattern', 'AssignmentExpression', 'UpdateExpression'] as const),
  ...(['UnaryExpression', 'BinaryExpression', 'LogicalExpression', 'ConditionalExpression'] as const),
  ...(['SequenceExpression', 'MemberExpression', 'ChainExpression', 'CallExpression', 'NewExpression'] as const),
  'ParenthesizedExpression',
]);

// Which node code is plain: it only computes. It names only its values, its own variables and built-ins of the language
// without outside effects, and ends when it returns. Running such code twice is not visible.

const CHARACTERS_MAX = 20_000;
const PLAIN: CodeRule = {
  nodes: COMPUTING_NODES,
  builtIn: COMPUTING_BUILT_IN,
  calls: new Map(),
  modules: new Set(),
  members: new Set(),
  mayWait: false,
};

/** Operators in a module, as which code is checked and run; comments in the script as which plain code runs. */
const COMMENTS_OF_SCRIPTS = /<!--|-->/;

/** `names`: the code's values. False also for code that does not parse. */
export function isPlainNodeCode(code: string, names: readonly string[]): boolean {
  if (code.length > CHARACTERS_MAX || COMMENTS_OF_SCRIPTS.test(code)) return false;
  const whole = parseNodeCode(code, names);
  if ('message' in whole) return false;
  return new CodeNames(names, PLAIN).areKnown(whole);
}

// Which node code is contained: it computes, waits, asks servers and prints by `console.log`, and reaches nothing of its
// process that code of another step could meet: no file, environment, output, other process or global object. So nothing
// is put back between such steps, and what they print is known to be theirs.

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
