// Classifies failures of npm and pip: the registry was unavailable, a package is missing, or it does not match the
// lock.
import { cutText } from '@methods/method/cut-text';

export type ManagerFailure = 'unreachable' | 'not_found' | 'mismatch' | 'other';

const MESSAGE_CHARACTERS_MAX = 600;
const LINES_TOLD = 6;

// pip also says "No matching distribution" of an index it could not reach: that is checked first.
const PATTERNS: readonly (readonly [failure: ManagerFailure, pattern: RegExp])[] = [
  ['mismatch', /\bEINTEGRITY\b|DO NOT MATCH THE HASHES|In --require-hashes mode|\bcode EUSAGE\b/],
  [
    'unreachable',
    /\bcode (ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ERR_SOCKET_TIMEOUT|FETCH_ERROR|E429|E5\d\d)\b/,
  ],
  [
    'unreachable',
    /Retrying \(Retry\(|NewConnectionError|ConnectTimeout|ReadTimeout|Max retries exceeded|too many \d+ error responses|HTTP error (429|5\d\d)|50[0234] (Server|Internal|Bad|Service|Gateway)/,
  ],
  ['not_found', /\bcode (E404|ETARGET|ENOVERSIONS)\b|No matching distribution found/],
];

export function failureIn(output: string): ManagerFailure {
  return PATTERNS.find(([, pattern]) => pattern.test(output))?.[0] ?? 'other';
}

/** The missing package, such as `stripe@17.5.0`, where the output names one. */
export function missingPackageIn(output: string): string | null {
  const found =
    /'([^'\n]+)' is not in this registry/.exec(output) ??
    /No matching version found for (\S+?)\.?(?:\s|$)/.exec(output) ??
    /No matching distribution found for (\S+)/.exec(output) ??
    /The requested resource '([^'\n]+)'/.exec(output);
  return found?.[1] ?? null;
}

/** The lines with the error; else the last ones. One line, bounded. */
export function reasonIn(output: string): string {
  const lines = output.split('\n').map((line) => line.trim());
  const told = lines.filter(
    (line) => /^(npm (error|ERR!) .|ERROR:)/.test(line) && !/complete log|-debug-|logs-max/.test(line),
  );
  const last = told.length > 0 ? told.slice(0, LINES_TOLD) : lines.filter((line) => line !== '').slice(-LINES_TOLD);
  const text = last.map((line) => line.replace(/^(npm (error|ERR!)|ERROR:)\s*/, '')).join(' · ');
  return text.length > MESSAGE_CHARACTERS_MAX ? `${cutText(text, MESSAGE_CHARACTERS_MAX)}…` : text;
}
