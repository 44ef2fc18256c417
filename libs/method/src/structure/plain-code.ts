// Which node code is plain: it only computes. It names only its values, its own variables and built-ins of the language
// without outside effects, and ends when it returns. Running such code twice is not visible.
import type { AnyNode } from 'acorn';
import { CodeNames } from './code-names.ts';
import { parseNodeCode } from './code-syntax.ts';

const CHARACTERS_MAX = 20_000;
/** Built-ins without state and without reach; what can be done to them, the runner prevents. */
export const PLAIN_BUILT_IN: ReadonlySet<string> = new Set(
  [
    'Object Array String Number Boolean BigInt Math JSON Date Map Set RegExp Intl',
    'Error TypeError RangeError SyntaxError URIError',
    'parseInt parseFloat isNaN isFinite encodeURI encodeURIComponent decodeURI decodeURIComponent',
    'NaN Infinity undefined',
  ]
    .join(' ')
    .split(' '),
);
export const PLAIN_NODES: ReadonlySet<AnyNode['type']> = new Set<AnyNode['type']>([
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

const PLAIN = {
  nodes: PLAIN_NODES,
  builtIn: PLAIN_BUILT_IN,
  modules: new Set<string>(),
  members: new Set<string>(),
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
