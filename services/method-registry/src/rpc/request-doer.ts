// Who did it, as the gateway names its authenticated caller: kept beside what was done, never judged here.
import { boundedText } from '../text/bounded-text.ts';

/** @throws ServiceError invalid_request over 512 characters. */
export function callerName(field: 'created_by' | 'published_by', text: string): string {
  return boundedText(field, text, { min: 0, max: 512 });
}
