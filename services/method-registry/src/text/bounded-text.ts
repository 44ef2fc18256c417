// Checks free text from a caller: bounded in code points, and without what Postgres cannot store.
import { ServiceError } from '@methods/errors/service-error';

/**
 * Returns `text` itself. @throws ServiceError invalid_request with one finding, whose code names the limit:
 * `<field>_length` or `<field>_nul`. It never repeats the text.
 */
export function boundedText(field: string, text: string, { min, max }: { min: number; max: number }): string {
  const codePoints = codePointCount(text);
  if (codePoints < min || codePoints > max) {
    throw new ServiceError('invalid_request', `${field} has ${min} to ${max} characters.`, {
      findings: [{ path: `/${field}`, code: `${field}_length`, message: `It has ${codePoints} characters.` }],
    });
  }
  if (text.includes('\0')) {
    throw new ServiceError('invalid_request', `${field} holds a NUL character.`, {
      findings: [{ path: `/${field}`, code: `${field}_nul`, message: 'It holds a NUL character.' }],
    });
  }
  return text;
}

function codePointCount(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
