// Which node code is plain: it only computes. It names only its values, its own variables and built-ins of the language
// without outside effects, and ends when it returns. Running such code twice is not visible.
import type { AnyNode, FunctionExpression } from 'acorn';
import { parseNodeCode } from './code-syntax.ts';

const CHARACTERS_MAX = 20_000;
/** Built-ins without state and without reach; what can be done to them, the runner prevents. */
const BUILT_IN = new Set(
  [
    'Object Array String Number Boolean BigInt Math JSON Date Map Set RegExp Intl',
    'Error TypeError RangeError SyntaxError URIError',
    'parseInt parseFloat isNaN isFinite encodeURI encodeURIComponent decodeURI decodeURIComponent',
    'NaN Infinity undefined',
  ]
    .join(' ')
    .split(' '),
);
const PLAIN_NODES = new Set<AnyNode['type']>([
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

/** Operators in a module, as which code is checked and run; comments in the script as which plain code runs. */
const COMMENTS_OF_SCRIPTS = /<!--|-->/;

/** `names`: the code's values. False also for code that does not parse. */
export function isPlainNodeCode(code: string, names: readonly string[]): boolean {
  if (code.length > CHARACTERS_MAX || COMMENTS_OF_SCRIPTS.test(code)) return false;
  const whole = parseNodeCode(code, names);
  if ('message' in whole) return false;
  const found = new Names(names);
  return found.readBody(whole) && found.areKnown();
}

/** The names that code declares and uses. */
class Names {
  private readonly declared: Set<string>;
  private readonly used = new Set<string>();

  constructor(names: readonly string[]) {
    this.declared = new Set(names);
  }

  /** False where something in it is not plain. */
  readBody(whole: FunctionExpression): boolean {
    return whole.body.body.every((statement) => this.read(statement));
  }

  /**
   * True when each name is a value, a plain built-in, or declared somewhere in the code. One that is declared in another
   * block than the one that uses it fails when the code runs, and the runner runs that code in the usual way; `typeof`
   * would not fail, and is of use only for names that are something elsewhere.
   */
  areKnown(): boolean {
    for (const name of this.used) if (!this.declared.has(name) && !BUILT_IN.has(name)) return false;
    for (const name of this.declared) if (name in globalThis && !BUILT_IN.has(name)) return false;
    return true;
  }

  private read(node: AnyNode): boolean {
    if (!PLAIN_NODES.has(node.type)) return false;
    switch (node.type) {
      case 'Identifier':
        this.used.add(node.name);
        return true;
      case 'FunctionExpression':
      case 'ArrowFunctionExpression':
      case 'FunctionDeclaration':
        if (node.async || node.generator) return false;
        if (node.id) this.declared.add(node.id.name);
        return node.params.every((param) => this.declare(param)) && this.read(node.body);
      case 'ForOfStatement':
        return !node.await && this.readAll(node);
      case 'VariableDeclaration':
        return (node.kind === 'var' || node.kind === 'let' || node.kind === 'const') && this.readAll(node);
      case 'VariableDeclarator':
        return this.declare(node.id) && (!node.init || this.read(node.init));
      case 'CatchClause':
        return (!node.param || this.declare(node.param)) && this.read(node.body);
      case 'MemberExpression':
        return this.read(node.object) && (!node.computed || this.read(node.property));
      case 'Property':
        return (!node.computed || this.read(node.key)) && this.read(node.value);
      case 'LabeledStatement':
        return this.read(node.body);
      case 'BreakStatement':
      case 'ContinueStatement':
        return true;
      default:
        return this.readAll(node);
    }
  }

  /** A pattern's names are declared and count as used too, which is harmless. */
  private declare(pattern: AnyNode): boolean {
    for (const name of namesIn(pattern)) this.declared.add(name);
    return this.read(pattern);
  }

  private readAll(node: AnyNode): boolean {
    for (const part of Object.values(node)) {
      for (const child of Array.isArray(part) ? part : [part]) if (isNode(child) && !this.read(child)) return false;
    }
    return true;
  }
}

function namesIn(pattern: AnyNode | null): string[] {
  switch (pattern?.type) {
    case 'Identifier':
      return [pattern.name];
    case 'ArrayPattern':
      return pattern.elements.flatMap(namesIn);
    case 'ObjectPattern':
      return pattern.properties.flatMap((it) => namesIn(it.type === 'Property' ? it.value : it));
    case 'AssignmentPattern':
      return namesIn(pattern.left);
    case 'RestElement':
      return namesIn(pattern.argument);
    default:
      return [];
  }
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}
