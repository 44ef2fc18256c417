// Explains why a shell step ended with an exit code: bash's output names the line, and shows whether bash could parse
// the code.
import { cutText } from '@methods/method/cut-text';
import { StepFailure } from '../step-failure.ts';

const LAST_LINE_CHARACTERS_MAX = 500;
const LAST_LINE_KEPT_MAX = 4000;

/**
 * `line`: where a command failed, as reported by the shell's trap. `stderr`: the end of the output, already masked: a
 * secret could not be found in a single line of it.
 */
export function shellFault(step: string, code: number, stderr: string, line: number | undefined): StepFailure {
  const place = new RegExp(`\\.\\./code/(?:${step}|lib)\\.sh: line (\\d+): (.*)`, 'g');
  for (const [, at, message = ''] of stderr.matchAll(place)) {
    if (/^(syntax error|unexpected EOF)/.test(message)) return new StepFailure('syntax', message, { line: Number(at) });
  }
  const last = [...stderr.matchAll(place)].at(-1);
  const told = line ?? (last === undefined ? undefined : Number(last[1]));
  const lines = stderr.trim().split('\n');
  // Drops the rest of a line whose beginning was not kept: it could be a part of a secret.
  const end = lines.length === 1 && stderr.length > LAST_LINE_KEPT_MAX ? '' : (lines.at(-1) ?? '');
  const shown = cutText(end.replace(/^\.\.\/code\/\w+\.sh: line \d+: /, ''), LAST_LINE_CHARACTERS_MAX);
  const message = `The step ended with exit code ${code}${shown === '' ? '' : `: ${shown}`}`;
  return new StepFailure('exit', message, { code, ...(told === undefined ? {} : { line: told }) });
}
