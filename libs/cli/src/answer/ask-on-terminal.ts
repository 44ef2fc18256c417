// Asks a question on the terminal, field by field, until the whole answer fits its form.
import { createInterface, type Interface } from 'node:readline/promises';
import { compileCheck } from '@methods/method/check-value';
import type { JsonObject, JsonValue } from '@methods/method/json';
import type { Output } from '../terminal/output.ts';
import { type FormField, formFields, isLongText, promptWords, valueOfLine } from './form-field.ts';
import { type ShownQuestion, showQuestion } from './show-question.ts';

/** The answer, or null when nobody gives one: the end of input, or an interrupt. */
export async function askOnTerminal(
  question: ShownQuestion,
  output: Output,
  interrupted: AbortSignal,
): Promise<JsonObject | null> {
  showQuestion(question, output);
  const { stdin, stdout } = output.streams;
  const lines = createInterface({ input: stdin, output: stdout });
  const gone = new AbortController();
  const end = () => gone.abort();
  // The terminal is in raw mode here: Ctrl-C arrives as a key, and must be what it is everywhere else.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  lines.on('close', end);
  interrupted.addEventListener('abort', end);
  try {
    return await askForm(question, lines, output, gone.signal);
  } catch (error) {
    if (gone.signal.aborted) return null;
    throw error;
  } finally {
    interrupted.removeEventListener('abort', end);
    lines.close();
  }
}

async function askForm(
  question: ShownQuestion,
  lines: Interface,
  output: Output,
  signal: AbortSignal,
): Promise<JsonObject> {
  const check = compileCheck(question.form);
  for (;;) {
    const answer: [string, JsonValue][] = [];
    for (const field of formFields(question.form)) {
      const value = await askField(field, lines, output, signal);
      if (value !== undefined) answer.push([field.name, value]);
    }
    const checked = check(Object.fromEntries(answer));
    if (checked.ok) return checked.value as JsonObject;
    for (const { path, message } of checked.findings) output.line(output.paint('red', `  ${path}: ${message}`));
  }
}

async function askField(
  field: FormField,
  lines: Interface,
  output: Output,
  signal: AbortSignal,
): Promise<JsonValue | undefined> {
  const { title, description } = field.schema;
  const label = typeof title === 'string' ? title : field.name;
  if (typeof description === 'string') output.line(`  ${output.paint('dim', description)}`);
  for (;;) {
    const prompt = `  ${output.paint('bold', label)} ${output.paint('dim', `(${promptWords(field)})`)}: `;
    const line = await lines.question(prompt, { signal });
    const value = valueOfLine(field, isLongText(field) && line !== '' ? await moreLines(line, lines, signal) : line);
    if (value === undefined) return undefined;
    const checked = field.check(value);
    if (checked.ok) return value;
    for (const { message } of checked.findings) output.line(output.paint('red', `  ${message}`));
  }
}

/** Long text goes on until an empty line. */
async function moreLines(first: string, lines: Interface, signal: AbortSignal): Promise<string> {
  const all = [first];
  for (;;) {
    const line = await lines.question('  … ', { signal });
    if (line === '') return all.join('\n');
    all.push(line);
  }
}
