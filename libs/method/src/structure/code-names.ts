// The names that node code declares and uses, and whether all of them, and all of its syntax, are among those that a rule
// allows.
import type { AnyNode, CallExpression, FunctionExpression } from 'acorn';

export interface CodeRule {
  readonly nodes: ReadonlySet<AnyNode['type']>;
  /** Globals that the code may name. */
  readonly builtIn: ReadonlySet<string>;
  /** Globals of which it may call these members, and do nothing else with. */
  readonly calls: ReadonlyMap<string, ReadonlySet<string>>;
  /** What it may import. */
  readonly modules: ReadonlySet<string>;
  /** Members that it may not name, nor spell as a text. */
  readonly members: ReadonlySet<string>;
  /** Async functions, generators, `for await`. */
  readonly mayWait: boolean;
}

export class CodeNames {
  private readonly declared: Set<string>;
  private readonly used = new Set<string>();

  /** `names`: the code's values. */
  constructor(
    names: readonly string[],
    private readonly rule: CodeRule,
  ) {
    this.declared = new Set(names);
  }

  /**
   * True when each name is a value, an allowed built-in, or declared somewhere in the code. One that is declared in
   * another block than the one that uses it fails when the code runs; `typeof` would not fail, and is of use only for
   * names that are something elsewhere.
   */
  areKnown(whole: FunctionExpression): boolean {
    const { builtIn } = this.rule;
    if (!whole.body.body.every((statement) => this.read(statement))) return false;
    for (const name of this.used) if (!this.declared.has(name) && !builtIn.has(name)) return false;
    for (const name of this.declared) if (name in globalThis && !builtIn.has(name)) return false;
    return true;
  }

  private read(node: AnyNode): boolean {
    const { nodes, modules, members, mayWait } = this.rule;
    if (!nodes.has(node.type)) return false;
    switch (node.type) {
      case 'Identifier':
        this.used.add(node.name);
        return true;
      case 'FunctionExpression':
      case 'ArrowFunctionExpression':
      case 'FunctionDeclaration':
        if (!mayWait && (node.async || node.generator)) return false;
        if (node.id) this.declared.add(node.id.name);
        return node.params.every((param) => this.declare(param)) && this.read(node.body);
      case 'ClassDeclaration':
      case 'ClassExpression':
        if (node.id) this.declared.add(node.id.name);
        return (!node.superClass || this.read(node.superClass)) && this.read(node.body);
      case 'MethodDefinition':
      case 'PropertyDefinition':
        return (!node.computed || this.read(node.key)) && (!node.value || this.read(node.value));
      case 'ImportExpression':
        // What else it is given is code too.
        return !node.options && node.source.type === 'Literal' && modules.has(String(node.source.value));
      case 'ImportDeclaration':
        if (node.attributes.length > 0 || !modules.has(String(node.source.value))) return false;
        for (const { local } of node.specifiers) this.declared.add(local.name);
        return true;
      case 'CallExpression':
        return (this.isKnownCall(node) || this.read(node.callee)) && node.arguments.every((it) => this.read(it));
      case 'ForOfStatement':
        return (mayWait || !node.await) && this.readAll(node);
      case 'VariableDeclaration':
        return (node.kind === 'var' || node.kind === 'let' || node.kind === 'const') && this.readAll(node);
      case 'VariableDeclarator':
        return this.declare(node.id) && (!node.init || this.read(node.init));
      case 'CatchClause':
        return (!node.param || this.declare(node.param)) && this.read(node.body);
      case 'MemberExpression':
        return this.read(node.object) && this.readKey(node.property, node.computed);
      case 'Property':
        return this.readKey(node.key, node.computed) && this.read(node.value);
      case 'Literal':
        return !members.has(String(node.value));
      case 'TemplateElement':
        return !members.has(String(node.value.cooked));
      case 'LabeledStatement':
        return this.read(node.body);
      case 'BreakStatement':
      case 'ContinueStatement':
        return true;
      default:
        return this.readAll(node);
    }
  }

  private isKnownCall({ callee }: CallExpression): boolean {
    if (callee.type !== 'MemberExpression' || callee.computed || callee.property.type !== 'Identifier') return false;
    return callee.object.type === 'Identifier' && !!this.rule.calls.get(callee.object.name)?.has(callee.property.name);
  }

  private readKey(key: AnyNode, isComputed: boolean): boolean {
    if (isComputed || key.type !== 'Identifier') return this.read(key);
    return !this.rule.members.has(key.name);
  }

  /** A pattern's names are declared and count as used too, which does no harm. */
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
