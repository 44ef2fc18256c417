// Owns value places and expression places: source nodes in, compiled values and their types out, problems reported in place.
import type { CompiledExpression, CompiledValue } from '../compiled-value.ts';
import { compileExpression, type ExpressionPlace, type TypedExpression } from '../expression/compile-expression.ts';
import { type Expr, ExpressionProblem } from '../expression/expression-tree.ts';
import { parseExpression } from '../expression/parse-expression.ts';
import { splitTemplate } from '../expression/template.ts';
import type { Findings } from '../source/findings.ts';
import { jsonOf, rangeInside, type SourceNode, type SourceScalar } from '../source/source-node.ts';
import type { PatternBook } from '../types/pattern.ts';
import {
  ANY,
  contains,
  type Field,
  isNullable,
  membersOf,
  NULL,
  SECRET,
  STRING,
  shortType,
  type Type,
  unionOf,
} from '../types/type.ts';
import type { DeclaredSecrets } from './declared-secrets.ts';

export interface TypedValue {
  readonly value: CompiledValue;
  readonly type: Type;
}

/** The place of a value, and what may be read there. */
export interface ValuePlace extends ExpressionPlace {
  /**
   * `fields`: `=secrets.NAME` and secret values are allowed as whole values (http). `values`: secret values of earlier
   * steps may (code). `none`: neither (texts, results, questions).
   */
  readonly secrets: 'fields' | 'values' | 'none';
  /** Steps that exist but have not finished here, for a better message. */
  readonly laterSteps: ReadonlySet<string>;
  /** Finished steps that cannot be read here, and why. */
  readonly hiddenSteps?: ReadonlyMap<string, string>;
}

// An expression costs some microseconds a character to compile; real methods stay far below.
const EXPRESSION_CHARACTERS_MAX = 65_536;
const NOTHING: TypedValue = { value: { kind: 'literal', value: null }, type: ANY };
// `inputs.a.b` by itself is almost always a forgotten `=`; a sentence holds spaces.
const LOOKS_LIKE_EXPRESSION = /^([a-z]\w{0,63})\??\.[A-Za-z_][\w.?[\]]{0,200}$/;

export class ValueReader {
  readonly #findings: Findings;
  readonly #secrets: DeclaredSecrets;
  readonly #patterns: PatternBook;
  #expressionCharacters = 0;
  /** Names of secrets read since the last `takeSecretNames`. */
  #names = new Set<string>();

  constructor(findings: Findings, secrets: DeclaredSecrets, patterns: PatternBook) {
    this.#patterns = patterns;
    this.#findings = findings;
    this.#secrets = secrets;
  }

  /** The secrets read since the last call: those of one step. */
  takeSecretNames(): string[] {
    const names = [...this.#names].sort();
    this.#names = new Set();
    return names;
  }

  /** A declared secret by its bare name (`auth: { bearer: NAME }`, `secrets: [NAME]`); undefined with M602 otherwise. */
  secretName(name: string, path: string, range: SourceNode['range']): CompiledValue | undefined {
    if (!this.#secrets.use(name, path, range)) return undefined;
    this.#names.add(name);
    return { kind: 'secret', name };
  }

  /** Any value: a literal, `=expression`, text with insertions, or a list or mapping of values. */
  value(node: SourceNode, path: string, place: ValuePlace): TypedValue {
    if (node.kind === 'list') {
      const items = node.items.map((item, index) => this.value(item, `${path}[${index}]`, place));
      const type: Type = {
        kind: 'list',
        of: items.length === 0 ? ANY : unionOf(items.map((item) => item.type)),
        bounds: {},
      };
      if (items.every(({ value }) => value.kind === 'literal'))
        return { value: { kind: 'literal', value: jsonOf(node) }, type };
      return { value: { kind: 'list', items: items.map((item) => item.value) }, type };
    }
    if (node.kind === 'map') {
      const fields = new Map<string, Field>();
      const entries: (readonly [string, CompiledValue])[] = [];
      for (const entry of node.entries.values()) {
        const read = this.value(entry.value, `${path}.${entry.key}`, place);
        entries.push([entry.key, read.value]);
        fields.set(entry.key, { type: read.type, optional: false });
      }
      const type: Type = { kind: 'object', fields };
      if (entries.every(([, value]) => value.kind === 'literal'))
        return { value: { kind: 'literal', value: jsonOf(node) }, type };
      return { value: { kind: 'map', entries }, type };
    }
    if (typeof node.value !== 'string') {
      return {
        value: { kind: 'literal', value: node.value },
        type: node.value === null ? NULL : { kind: 'choice', values: [node.value] },
      };
    }
    if (node.value.startsWith('=')) return this.#whole(node, path, place);
    return this.text(node, path, place);
  }

  /** Text with insertions; a lone `=expression` must have a text form. Scalars other than strings count as their spelling. */
  text(node: SourceNode, path: string, place: ValuePlace, encoding: 'none' | 'url' = 'none'): TypedValue {
    if (node.kind !== 'scalar' || node.value === null) {
      this.#findings.add('M104', 'this is text', path, node.range, {
        hint: 'write it on one line, or as a block with |',
      });
      return { ...NOTHING, type: STRING };
    }
    if (node.text.startsWith('=')) return this.#scalarExpression(node, path, place);
    if (looksLikeExpression(node.text, place)) {
      this.#findings.warn(
        'M409',
        'this stays text although it looks like an expression',
        path,
        node.range,
        `write  =${node.text}`,
      );
    }
    try {
      const parts = splitTemplate(node.text);
      const only = parts.length === 1 ? parts[0] : undefined;
      if (only?.kind === 'text')
        return { value: { kind: 'literal', value: only.text }, type: { kind: 'choice', values: [only.text] } };
      const compiled = parts.map((part): string | CompiledExpression => {
        if (part.kind === 'text') return part.text;
        return this.#inserted(node, part.source, part.start, path, place) ?? '';
      });
      return { value: { kind: 'text', parts: compiled, encoding }, type: STRING };
    } catch (error) {
      this.#report(error, node, 0, path, place);
      return { ...NOTHING, type: STRING };
    }
  }

  /** An expression place: `if`, `each`, `until`, `take`, `that` and checks. A leading `=` is allowed. Undefined with a finding otherwise. */
  expression(
    node: SourceNode,
    path: string,
    place: ValuePlace,
    wanted: 'value' | 'condition' = 'value',
  ): TypedExpression | undefined {
    if (node.kind !== 'scalar' || node.value === null) {
      this.#findings.add('M104', 'an expression is text', path, node.range, {
        hint: 'put the expression on one line, in quotes if it holds : or #',
      });
      return undefined;
    }
    const skipped = node.text.startsWith('=') && !node.text.startsWith('==') ? 1 : 0;
    return this.#compile(node, node.text.slice(skipped), skipped, path, place, wanted);
  }

  #whole(node: SourceScalar, path: string, place: ValuePlace): TypedValue {
    const source = node.text.slice(1);
    const secret = this.#secretOf(source);
    if (secret !== undefined && place.secrets === 'fields') {
      return { value: this.secretName(secret, path, node.range) ?? NOTHING.value, type: SECRET };
    }
    const compiled = this.#compile(node, source, 1, path, place, 'value');
    if (!compiled) return NOTHING;
    if (place.secrets === 'none' && contains(compiled.type, 'secret')) {
      this.#findings.add('M606', 'a secret must not appear here', path, node.range, {
        hint: 'secrets only go to http fields and code',
      });
    }
    return { value: compiled.expression, type: compiled.type };
  }

  #scalarExpression(node: SourceScalar, path: string, place: ValuePlace): TypedValue {
    const read = this.#whole(node, path, place);
    const source = node.text.slice(1).slice(0, 80);
    if (isNullable(read.type)) {
      this.#findings.add('M405', `${source} may be absent here`, path, node.range, {
        hint: `write  =${source} ?? fallback`,
      });
    } else if (membersOf(read.type).some(hasNoText)) {
      this.#findings.add('M407', `${source} is ${shortType(read.type)}, which has no text form`, path, node.range, {
        hint: `write  =json(${source})`,
      });
    }
    // Text places need text: a single inserted number is written out as within a longer text.
    const isText = read.value.kind !== 'expression' || membersOf(read.type).every(isTextMember);
    return isText || read.value.kind !== 'expression'
      ? read
      : { value: { kind: 'text', parts: [read.value], encoding: 'none' }, type: STRING };
  }

  #inserted(
    node: SourceScalar,
    source: string,
    start: number,
    path: string,
    place: ValuePlace,
  ): CompiledExpression | undefined {
    const compiled = this.#compile(node, source, start, path, place, 'value');
    if (!compiled) return undefined;
    const text = source.trim().slice(0, 80);
    const range = rangeInside(node, start, start + source.length);
    if (contains(compiled.type, 'secret')) {
      this.#findings.add('M606', 'a secret must not be part of a text', path, range, {
        hint: 'use auth, or the secret as a whole value',
      });
    } else if (isNullable(compiled.type)) {
      this.#findings.add('M405', `${text} may be absent here`, path, range, { hint: `write  \${${text} ?? "…"}` });
    } else if (membersOf(compiled.type).some(hasNoText)) {
      this.#findings.add('M407', `${text} is ${shortType(compiled.type)}, which has no text form`, path, range, {
        hint: `write  \${json(${text})}  or pick a field`,
      });
    }
    return compiled.expression;
  }

  #compile(
    node: SourceScalar,
    source: string,
    offset: number,
    path: string,
    place: ValuePlace,
    wanted: 'value' | 'condition',
  ): TypedExpression | undefined {
    if (this.#findings.enough || this.#expressionCharacters > EXPRESSION_CHARACTERS_MAX) return undefined;
    this.#expressionCharacters += source.length;
    if (this.#expressionCharacters > EXPRESSION_CHARACTERS_MAX) {
      this.#findings.add(
        'M803',
        `the expressions of a method have at most ${EXPRESSION_CHARACTERS_MAX} characters together`,
        path,
        node.range,
        {
          hint: 'move logic into node steps',
        },
      );
      return undefined;
    }
    try {
      return compileExpression(source, place, this.#patterns, wanted);
    } catch (error) {
      this.#report(error, node, offset, path, place);
      return undefined;
    }
  }

  #report(error: unknown, node: SourceScalar, offset: number, path: string, place: ValuePlace): void {
    if (!(error instanceof ExpressionProblem)) throw error;
    const range = rangeInside(node, offset + error.start, offset + error.end);
    const name = node.text.slice(offset + error.start, offset + error.end);
    if (error.code === 'M201' && place.laterSteps.has(name)) {
      this.#findings.add('M201', `step "${name}" has not finished at this point`, path, range, {
        hint: 'only steps above can be read',
      });
    } else if (error.code === 'M201' && place.hiddenSteps?.has(name)) {
      this.#findings.add('M201', `step "${name}" cannot be read here`, path, range, {
        hint: place.hiddenSteps.get(name),
      });
    } else
      this.#findings.add(error.code, error.message, path, range, { hint: this.#cutHint(error, node) ?? error.hint });
  }

  /** For an expression that YAML ended at one of its own commas. */
  #cutHint(error: ExpressionProblem, node: SourceScalar): string | undefined {
    const isCut =
      error.code === 'M401' && /^\s*,/.test(this.#findings.source.text.slice(node.range[1], node.range[1] + 20));
    const hasOpen = (node.text.match(/[([{]/g)?.length ?? 0) > (node.text.match(/[)\]}]/g)?.length ?? 0);
    if (!isCut || !hasOpen) return undefined;
    return 'inside { } and [ ] a comma ends the value: put the whole value in quotes';
  }

  /** The name when the whole expression is `secrets.NAME`. */
  #secretOf(source: string): string | undefined {
    if (!source.includes('secrets')) return undefined;
    let tree: Expr;
    try {
      tree = parseExpression(source);
    } catch {
      return undefined;
    }
    return tree.kind === 'member' && tree.object.kind === 'name' && tree.object.name === 'secrets' && !tree.optional
      ? tree.name
      : undefined;
  }
}

/** True for a path that starts with a name that can be read in this place. */
function looksLikeExpression(text: string, place: ValuePlace): boolean {
  const name = LOOKS_LIKE_EXPRESSION.exec(text)?.[1];
  return name !== undefined && (place.roots.has(name) || name === 'secrets');
}

type Member = ReturnType<typeof membersOf>[number];

function hasNoText(member: Member): boolean {
  return ['list', 'map', 'object', 'open', 'file', 'null'].includes(member.kind);
}

function isTextMember(member: Member): boolean {
  return (
    member.kind === 'string' ||
    member.kind === 'secret' ||
    (member.kind === 'choice' && member.values.every((value) => typeof value === 'string'))
  );
}
