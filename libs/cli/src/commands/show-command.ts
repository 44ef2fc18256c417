// `methods show`: shows one method: its state, its versions, and what a caller and a worker need.
import { isJsonList, isJsonObject, type JsonValue, ownField } from '@methods/method/json';
import { namedMethod } from '../chosen-server/named-method.ts';
import { openServer, SERVER_OPTIONS } from '../chosen-server/open-server.ts';
import type { Command } from '../command/command.ts';
import { EXIT } from '../errors/command-error.ts';
import { typescriptOfSchema } from '../method-types/typescript-types.ts';
import { getMethod, getSource, type ServerMethod, type ServerSource } from '../server/method-calls.ts';
import type { ServerApi } from '../server/server-api.ts';
import type { Output } from '../terminal/output.ts';
import { plainText } from '../terminal/plain-text.ts';
import { timeOf } from '../terminal/words.ts';

export const showCommand: Command = {
  name: 'show',
  usage: 'METHOD [--server URL]',
  summary: 'Show a method: its state, its versions, and what it takes',
  options: { ...SERVER_OPTIONS },
  operands: { min: 1, max: 1, word: 'METHOD' },
  examples: ['methods show refund-order.method', 'methods show "Refund an order" --json'],

  async run(line, context) {
    const { output } = context;
    const api = await openServer(line, context);
    const { id } = await namedMethod(api, line.operands[0] ?? '', context.cwd);
    const method = await getMethod(api, id);
    output.document(method);
    if (!output.json) output.result(await shownMethod(api, method, output));
    return EXIT.done;
  },
};

async function shownMethod(api: ServerApi, method: ServerMethod, output: Output): Promise<string> {
  const { current_version: current, published_version: published } = method;
  const version = current === null ? null : await getSource(api, method.id, published ?? current);
  const facts: (readonly [string, string])[] = [
    ['id', method.production_id],
    ['status', method.build?.error ? `${method.status}: ${method.build.error}` : method.status],
    ['format', method.format],
    ['published', published ?? 'no version'],
    ['current', current === null ? 'no version' : current === published ? 'the published one' : current],
    ['created', byAt(method.created_by?.name, method.created_at)],
    ...(version === null ? [] : factsOf(version)),
  ];
  const width = Math.max(...facts.map(([name]) => name.length));
  const lines = facts
    .filter(([, text]) => text !== '')
    .map(([name, text]) => `  ${output.paint('dim', name.padEnd(width))}  ${indented(plainText(text), width + 4)}`);
  return [output.paint('bold', plainText(method.display_name)), ...lines].join('\n');
}

function factsOf(version: ServerSource & { inputs?: JsonValue; result_schema?: JsonValue; questions?: JsonValue }) {
  const facts: (readonly [string, string])[] = [
    ['saved', `${byAt(version.created_by?.name, version.created_at)}${version.reason ? `: ${version.reason}` : ''}`],
    ['inputs', typeText(version.inputs)],
    ['result', typeText(version.result_schema)],
    ['questions', stepsOf(version.questions)],
    ['secrets', version.secrets.join(', ')],
  ];
  return facts;
}

function byAt(name: string | undefined, at: string | null): string {
  return `${timeOf(at)}${name ? ` by ${name}` : ''}`;
}

/** Without the comments of a file of types, which belong to the source. */
function typeText(schema: JsonValue | undefined): string {
  if (schema === undefined) return '';
  return typescriptOfSchema(schema, (name) => name).replace(/^ *\/\*\*[\s\S]*?\*\/\n/gm, '');
}

function stepsOf(questions: JsonValue | undefined): string {
  if (!isJsonList(questions)) return '';
  return questions.map((question) => String(isJsonObject(question) ? ownField(question, 'step') : '')).join(', ');
}

function indented(text: string, by: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(by)}`);
}
