// Owns the URL of an http step: absolute http or https, inserted values percent-encoded.
import type { CompiledValue } from '../../compiled-value.ts';
import type { SourceEntry } from '../../source/source-node.ts';
import { placeOf, type StepContext } from '../step-context.ts';

export function readUrl(context: StepContext, entry: SourceEntry, path: string): CompiledValue {
  const { findings, values } = context;
  const read = values.text(entry.value, path, placeOf(context, 'fields'), 'url');
  const { value } = read;
  const parts =
    value.kind === 'literal'
      ? [String(value.value)]
      : value.kind === 'text' && value.encoding === 'url'
        ? value.parts
        : undefined;
  const first = parts?.[0];
  // A leading insertion or a whole expression brings its own scheme and host; that is only known in the run.
  if (parts === undefined || typeof first !== 'string') return value;
  const url = staticUrl(parts);
  if (entry.value.kind !== 'scalar' || entry.value.value === null) return value;
  if (!url || !/^https?:$/.test(url.protocol)) {
    findings.add('M510', `"${first.slice(0, 60)}" is not an absolute http or https URL`, path, entry.value.range, {
      hint: 'start with https://',
    });
  } else if (url.username !== '' || url.password !== '') {
    findings.add('M604', 'credentials belong in auth, not in the URL', path, entry.value.range, {
      hint: 'write  auth: { basic: [USER, PASSWORD] }',
    });
  }
  return value;
}

/** The URL with placeholders for inserted values: letters, or a digit where only a number is valid (a port). */
function staticUrl(parts: readonly unknown[]): URL | undefined {
  for (const standIn of ['x', '1']) {
    const text = parts.map((part) => (typeof part === 'string' ? part : standIn)).join('');
    if (/\s/.test(text.trim())) return undefined;
    try {
      return new URL(text);
    } catch {
      // Not with this placeholder.
    }
  }
  return undefined;
}
