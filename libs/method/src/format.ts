// Owns the recognition of a source's format, before anything else of it is read.
import { decodeSource } from './source/source-text.ts';

export type SourceFormat = 'method/2' | 'workflow/2' | 'workflow/1';

/**
 * The format a source names in its header, or null when it names none of ours. Cheap: looks at the `format` line only, so
 * that a workflow/1 source, which this package does not compile, can be recognised and stored.
 */
export function formatOf(source: string | Uint8Array): SourceFormat | null {
  const decoded = decodeSource(source);
  if (!decoded.ok) return null;
  // A key at column 1 is one of the top mapping: the text of a nested or folded value is always indented.
  const line = /^(?:"format"|'format'|format) *: *(?:"([^"\n]*)"|'([^'\n]*)'|([^\s#"'][^\s#]*)) *(?:#.*)?\r?$/m.exec(
    decoded.text,
  );
  const value = line?.[1] ?? line?.[2] ?? line?.[3] ?? flowFormat(decoded.text);
  return value === 'method/2' || value === 'workflow/2' || value === 'workflow/1' ? value : null;
}

/** The format of a source written as one flow mapping or as JSON, where it is among the first keys. */
function flowFormat(text: string): string | undefined {
  if (!/^\uFEFF?\s{0,100}\{/.test(text)) return undefined;
  return /[{,]\s{0,100}["']?format["']?\s{0,10}:\s{0,10}["']?([a-z]+\/\d)["']?\s{0,100}[,}]/.exec(
    text.slice(0, 10_000),
  )?.[1];
}
