// The syntax and the built-ins of node code that computes: what plain code and contained code have in common.
import type { AnyNode } from 'acorn';

/** Built-ins without state and without reach; what can be done to them, the runner prevents. */
export const COMPUTING_BUILT_IN: ReadonlySet<string> = new Set(
  [
    'Object Array String Number Boolean BigInt Math JSON Date Map Set RegExp Intl',
    'Error TypeError RangeError SyntaxError URIError',
    'parseInt parseFloat isNaN isFinite encodeURI encodeURIComponent decodeURI decodeURIComponent',
    'NaN Infinity undefined',
  ]
    .join(' ')
    .split(' '),
);
export const COMPUTING_NODES: ReadonlySet<AnyNode['type']> = new Set<AnyNode['type']>([
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
