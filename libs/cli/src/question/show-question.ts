// Shows a question and the form of its answer.
import { readForm } from '@methods/form/field';
import { fieldWords } from '@methods/form/field-words';
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
