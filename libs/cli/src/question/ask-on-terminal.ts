// Asks a question on the terminal, field by field, until the whole answer fits its form.
import { type Field, faultOf, type ListField, readForm, shownValue } from '@methods/form/field';
import { fieldWords, kindWords } from '@methods/form/field-words';
import { valueOfText } from '@methods/form/typed-text';
import type { JsonObject, JsonValue } from '@methods/method/json';
import type { Output } from '../terminal/output.ts';
import { plainText } from '../terminal/plain-text.ts';
import { type Hint, Prompter } from '../terminal/prompt.ts';
import { editText } from '../terminal/text-editor.ts';
import { type ShownQuestion, showQuestion } from './show-question.ts';

/** For one list. */
const ITEMS_MAX = 10_000;

/** There is no answer: the end of input, or an interrupt. */
class Gone extends Error {}

/**
 * Returns the answer, or null when there is none: the end of input, or an interrupt. `editor`: the command for longer
 * texts; without one they are typed line by line. `refusals`: the question's checks that a whole answer does not meet.
 */
export async function askOnTerminal(
  question: ShownQuestion,
  output: Output,
  interrupted: AbortSignal,
  editor: string | null = null,
  refusals: (answer: JsonValue) => readonly string[] = () => [],
): Promise<JsonObject | null> {
  showQuestion(question, output);
  const form = new TerminalForm(question, output, interrupted, editor);
  return form.answer(refusals);
}

class TerminalForm {
  private readonly prompter: Prompter;

  constructor(
    private readonly question: ShownQuestion,
    private readonly output: Output,
    private readonly signal: AbortSignal,
    private readonly editor: string | null,
  ) {
    this.prompter = new Prompter(output);
  }

  async answer(refusals: (answer: JsonValue) => readonly string[]): Promise<JsonObject | null> {
    const { fields, check } = readForm(this.question.form);
    this.prompter.open();
    try {
      for (;;) {
        const answer: [string, JsonValue][] = [];
        for (const field of fields) {
          const value = await this.field(field);
          if (value !== undefined) answer.push([field.name, value]);
        }
        const checked = check(Object.fromEntries(answer));
        if (checked.ok) {
          const refused = refusals(checked.value);
          if (refused.length === 0) return checked.value as JsonObject;
          for (const sentence of refused) this.complain(plainText(sentence));
          continue;
        }
        for (const { path, message } of checked.findings) this.complain(`${path}: ${message}`);
      }
    } catch (error) {
      if (error instanceof Gone) return null;
      throw error;
    } finally {
      this.prompter.close();
    }
  }

  private async field(field: Field): Promise<JsonValue | undefined> {
    const { output } = this;
    const { label, description } = field;
    output.line(`  ${output.paint('bold', plainText(label))} ${output.paint('dim', `(${this.words(field)})`)}`);
    if (description !== null) output.line(`  ${output.paint('dim', plainText(description))}`);
    if (isLongText(field)) return this.longText(field);
    if (field.kind === 'list') return this.list(field);
    const hint = (line: string) => hintOf(field, line);
    return valueOfText(field, await this.line(hint, choiceWords(field)));
  }

  private words(field: Field): string {
    if (!isLongText(field) || this.editor === null) return promptWords(field);
    return `${fieldWords(field)}; Enter opens the editor`;
  }

  private async line(hint: (line: string) => Hint, choices: readonly string[] = []): Promise<string> {
    const line = await this.prompter.ask({ mark: '  › ', hint, choices }, this.signal);
    if (line === null) throw new Gone('there is no answer');
    return line;
  }

  /** Reads an item a line, until an empty one; or the whole list as JSON. */
  private async list(field: ListField): Promise<JsonValue | undefined> {
    const { item } = field;
    const items: JsonValue[] = [];
    for (;;) {
      const hint = (line: string): Hint => {
        if (line.trim() === '') return endOfList(field, items);
        if (line.trim().startsWith('[') && items.length === 0) return hintOf(field, line);
        return hintOf(item, line);
      };
      const line = await this.line(hint, choiceWords(item));
      if (line.trim() === '') return items.length === 0 ? valueOfText(field, '') : items;
      if (line.trim().startsWith('[') && items.length === 0) return valueOfText(field, line);
      const value = valueOfText(item, line);
      if (value !== undefined && items.length < ITEMS_MAX) items.push(value);
    }
  }

  private async longText(field: Field): Promise<JsonValue | undefined> {
    for (;;) {
      const first = await this.line((line) => (line === '' ? { text: this.editorWords(field), wrong: false } : OK));
      const text = first === '' && this.editor !== null ? await this.edited(this.editor) : await this.lines(first);
      const value = text === null ? undefined : valueOfText(field, text);
      if (text !== null && (value === undefined || faultOf(field, value) === null)) return value;
      if (value !== undefined) this.complain(faultOf(field, value) ?? '');
    }
  }

  private editorWords(field: Field): string {
    if (this.editor !== null) return `Enter opens ${this.editor}; or type the text here`;
    return field.required ? 'an empty line ends the text' : 'Enter leaves it out; an empty line ends the text';
  }

  private async edited(editor: string): Promise<string | null> {
    this.prompter.close();
    const edited = await editText(editor, '');
    this.prompter.open();
    if (edited.kind === 'failed') {
      this.complain(edited.reason);
      return null;
    }
    for (const line of plainText(edited.text).split('\n')) this.output.line(`    ${this.output.paint('dim', line)}`);
    return edited.text;
  }

  /** Long text continues until an empty line. */
  private async lines(first: string): Promise<string> {
    if (first === '') return '';
    const all = [first];
    for (;;) {
      const line = await this.line((line) => (line === '' ? { text: 'Enter ends the text', wrong: false } : OK));
      if (line === '') return all.join('\n');
      all.push(line);
    }
  }

  private complain(text: string): void {
    this.output.line(this.output.paint('red', `  ${text}`));
  }
}

const OK: Hint = { text: '', wrong: false };

function isLongText(field: Field): boolean {
  return field.kind === 'text' && field.long;
}

/** Returns the fixed values as they are typed; empty if there are none. */
function choiceWords(field: Field): readonly string[] {
  return field.kind === 'choice' ? field.choices.map(shownValue) : [];
}

/** The input a prompt accepts, in a few words. */
function promptWords(field: Field): string {
  const words =
    field.kind === 'choice'
      ? field.choices.map((choice, index) => `${index + 1} ${shownValue(choice)}`).join(', ')
      : kindWords(field);
  if (field.default !== undefined) return `${words}; Enter for ${JSON.stringify(field.default)}`;
  return field.required ? words : `${words}; Enter leaves it out`;
}

/** The fault of a line, shown at every key. */
function hintOf(field: Field, line: string): Hint {
  const value = valueOfText(field, line);
  if (value === undefined) return OK;
  const fault = faultOf(field, value);
  if (fault === null) return { text: line === '' ? '' : '✓', wrong: false };
  return { text: line === '' ? promptWords(field) : fault, wrong: true };
}

function endOfList(field: Field, items: readonly JsonValue[]): Hint {
  const value = items.length === 0 ? valueOfText(field, '') : [...items];
  const fault = value === undefined ? null : faultOf(field, value);
  const count = `${items.length} so far`;
  return fault === null
    ? { text: `${count}; Enter ends the list`, wrong: false }
    : { text: `${count}; ${fault}`, wrong: true };
}
