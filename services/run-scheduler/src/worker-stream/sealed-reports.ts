// Whether the content of a worker's report is sealed, as a run in device mode requires it: names, kinds, statuses and
// times are plain, and every text that a step or a method made is an envelope or empty.
import { envelopeShape, type SealedKind, sealedTextShape } from '@methods/content/sealed-shape';
import type { Question, RunError } from '@methods/proto/run/v1/run_pb';
import type { Ask, StepRecord } from '@methods/proto/worker/v1/worker_service_pb';

const OUT_BYTES_MAX = 1 << 20;
const LOG_BYTES_MAX = 256 * 1024;
const TEXT_BYTES_MAX = 64 * 1024;
const QUESTION_BYTES_MAX = 1 << 20;
const SEALED = '{"$sealed":"';

export function isSealedRecord({ step, outJson, logTail }: StepRecord): boolean {
  const { checks = [], error } = step ?? {};
  return (
    isSealedText(outJson, 'out', OUT_BYTES_MAX) &&
    isSealedText(logTail, 'log', LOG_BYTES_MAX) &&
    checks.every(({ message }) => isSealedText(message, 'text', TEXT_BYTES_MAX)) &&
    (error === undefined ||
      (isSealedText(error.message, 'text', TEXT_BYTES_MAX) &&
        error.reason === '' &&
        error.body === '' &&
        Object.keys(error.headers).length === 0))
  );
}

/** The question of a run in device mode, in base64; null: the report has another one. */
export function sealedQuestion({ question, ensureScopeJson }: Ask): string | null {
  if (question === undefined || question.sealed.length === 0 || ensureScopeJson !== '') return null;
  const { sealed } = question;
  if (hasPlainContent(question) || envelopeShape(sealed, 'question', QUESTION_BYTES_MAX) === null) return null;
  return Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength).toString('base64');
}

function hasPlainContent({ prompt, details, show, formJson }: Question): boolean {
  return prompt !== '' || details !== '' || show.length > 0 || formJson !== '';
}

/** Without a result: that stays with the worker. */
export function isSealedEnd(resultJson: string, error: RunError | undefined): boolean {
  return resultJson === '' && isSealedText(error?.message ?? '', 'text', TEXT_BYTES_MAX);
}

/** Plain texts, of all other runs, are not parsed. */
function isSealedText(text: string, kind: SealedKind, bytesMax: number): boolean {
  return text === '' || (text.startsWith(SEALED) && sealedTextShape(text, kind, bytesMax) !== null);
}
