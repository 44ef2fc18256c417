// Shows a question and the form of its answer, or says that the reader may not answer it.
import { readForm } from '@methods/form/field';
import { fieldWords } from '@methods/form/field-words';
import { CommandError } from '../errors/command-error.ts';
import type { LocalQuestion } from '../local-run/run-record.ts';
import type { Output } from '../terminal/output.ts';
import { plainText } from '../terminal/plain-text.ts';

/** As the executor asks it, or as the run's folder has it. */
export type ShownQuestion = Pick<LocalQuestion, 'prompt' | 'show' | 'form'> & { readonly details?: string | null };

export function showQuestion(question: ShownQuestion, output: Output): void {
  output.line();
  output.line(`${output.paint('cyan', '?')} ${output.paint('bold', plainText(question.prompt))}`);
  if (question.details != null) output.line(indented(question.details));
  for (const { path, value } of question.show) {
    const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
    output.line(`  ${output.paint('dim', path)}`);
    output.line(indented(text, '    '));
  }
}

/** For a person who cannot be asked here. */
export function showForm(question: ShownQuestion, output: Output): void {
  for (const field of readForm(question.form).fields) {
    const { description } = field;
    const note = description !== null ? `  ${output.paint('dim', description)}` : '';
    output.line(`  ${output.paint('bold', field.name)}: ${fieldWords(field)}${note}`);
  }
}

function indented(text: string, margin = '  '): string {
  return plainText(text).replace(/^/gm, margin);
}

export interface ForReader {
  readonly id: string;
  readonly state: 'open' | 'answered' | 'expired' | 'cancelled';
  /** Absent: a part of an earlier release is running. */
  readonly may_answer?: boolean;
  readonly refusal?: string;
}

const REFUSALS: Readonly<Record<string, string>> = {
  viewer: 'viewers answer only questions that name them',
  starter: 'it excludes the person who started the run',
  voted: 'you have answered it already through a link, which answers once',
};

/** Why the reader's answer to an open question would not count; null: it would, or the server decides when it comes. */
export function refusalWords({ state, may_answer: mayAnswer, refusal = '' }: ForReader): string | null {
  if (state !== 'open' || mayAnswer !== false) return null;
  return `you may not answer it: ${REFUSALS[refusal] ?? 'it is for other people'}`;
}

/** Before its form is shown to the person. @throws CommandError `not_an_answerer` */
export function refuseForOthers(item: ForReader): void {
  const words = refusalWords(item);
  if (words === null) return;
  throw new CommandError('not_an_answerer', words, { hint: `methods inbox show ${item.id}` });
}
