// Owns the text of a method this package writes itself: key order as given, short mappings on one line, code as blocks.
import { Document, isCollection, isMap, isScalar, type Node, Scalar, visit } from 'yaml';
import { isJsonList, isJsonObject, type JsonObject, type JsonValue } from '../json.ts';

export interface MethodText {
  /** Comment lines on top, without `#`. */
  readonly head: readonly string[];
  /** The method, its keys in the order of the text. */
  readonly method: JsonObject;
  /** Comment lines before the step of the same index. */
  readonly stepComments?: readonly (readonly string[])[];
  /** Comment lines at the end. */
  readonly foot?: readonly string[];
}

const CODE_KEYS = new Set(['shell', 'python', 'node']);
const LINE_CHARACTERS_MAX = 90;

/** The YAML text; the same value always gives the same text. */
export function writeMethodText(text: MethodText): string {
  const document = new Document(text.method, { aliasDuplicateObjects: false });
  if (!isMap(document.contents)) return '';
  for (const [index, pair] of document.contents.items.entries()) {
    const key = isScalar(pair.key) ? pair.key : undefined;
    const value = pair.value as Node | null;
    if (key && index > 0 && isCollection(value)) key.spaceBefore = true;
    const json = text.method[String(key?.value)];
    if (key?.value === 'steps') layOutSteps(value, json, text.stepComments ?? []);
    else if (key?.value !== 'inputs') layOut(value, json);
    else if (isMap(value)) for (const input of value.items) layOut(input.value as Node, childOf(json, input.key));
  }
  const body = document.toString({
    lineWidth: 0,
    flowCollectionPadding: true,
    defaultStringType: 'PLAIN',
    singleQuote: true,
    blockQuote: 'literal',
  });
  return [...text.head.map(commentLine), body, ...(text.foot ?? []).map(commentLine)].join('');
}

function commentLine(line: string): string {
  return `#${line === '' ? '' : ` ${line}`}\n`;
}

function layOutSteps(list: Node | null, json: JsonValue | undefined, comments: readonly (readonly string[])[]): void {
  if (!isCollection(list)) return;
  for (const [index, step] of list.items.entries()) {
    if (!isMap(step)) continue;
    if (index > 0) step.spaceBefore = true;
    const lines = comments[index] ?? [];
    if (lines.length > 0) step.commentBefore = lines.map((line) => (line === '' ? '' : ` ${line}`)).join('\n');
    for (const pair of step.items) {
      const value = pair.value as Node | null;
      const code = isScalar(pair.key) && CODE_KEYS.has(String(pair.key.value));
      if (code && isScalar(value)) value.type = Scalar.BLOCK_LITERAL;
      // A check is most readable with its sentence on a line of its own.
      else if (!isScalar(pair.key) || pair.key.value !== 'ensure')
        layOut(value, childOf(isJsonList(json) ? json[index] : undefined, pair.key));
    }
  }
}

/** One line for what is short; a list of checks and the like keeps one line an item. */
function layOut(node: Node | null, json: JsonValue | undefined): void {
  if (!isCollection(node) || json === undefined) return;
  const holdsMappings = isJsonList(json) && json.some(isJsonObject);
  if (!holdsMappings && JSON.stringify(json).length <= LINE_CHARACTERS_MAX) {
    node.flow = true;
    // Over two lines, words before a colon would become a mapping, which is not allowed there.
    visit(node, {
      Scalar(_, scalar) {
        if (String(scalar.value).includes('\n')) scalar.type = Scalar.QUOTE_DOUBLE;
      },
    });
    return;
  }
  for (const [index, item] of node.items.entries()) {
    if (isMap(node)) {
      const pair = node.items[index];
      layOut((pair?.value ?? null) as Node | null, childOf(json, pair?.key));
    } else layOut(item as Node, isJsonList(json) ? json[index] : undefined);
  }
}

function childOf(json: JsonValue | undefined, key: unknown): JsonValue | undefined {
  return isJsonObject(json) && isScalar(key) ? json[String(key.value)] : undefined;
}

/** Text for a value place, escaped so that no part of it is an expression or an insertion. */
export function literalText(text: string): string {
  const escaped = text.replaceAll('${', () => '$${');
  return escaped.startsWith('=') ? `\${"="}${escaped.slice(1)}` : escaped;
}

/** The start of a text; a character of two units is never cut in half, since half of one could not be stored. */
export function shorten(text: string, unitsMax: number): string {
  return text.length <= unitsMax ? text : text.slice(0, unitsMax).replace(/[\uD800-\uDBFF]$/, '');
}
