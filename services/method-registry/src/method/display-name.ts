// The name people see for a method: free text of their own, or what its source suggests.
import { boundedText } from '../text/bounded-text.ts';

const CODE_POINTS_MAX = 200;
const UNNAMED = 'Untitled method';

/** The caller's display name unchanged, or null when none was given. @throws ServiceError invalid_request. */
export function givenDisplayName(text: string): string | null {
  return text === '' ? null : boundedText('display_name', text, { min: 1, max: CODE_POINTS_MAX });
}

/** The title, else the name, on one line and cut to 200 code points: an author's title must never refuse a save. */
export function displayNameFrom(source: { readonly title?: string; readonly name: string }): string {
  for (const text of [source.title ?? '', source.name]) {
    // Control characters, NUL among them, which Postgres cannot store in text.
    const line = text.replace(/[\p{Cc}\s]+/gu, ' ').trim();
    if (line !== '') return [...line].slice(0, CODE_POINTS_MAX).join('');
  }
  return UNNAMED;
}
