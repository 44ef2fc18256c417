// Why did a shell step end with an exit code? What bash wrote tells the line, and whether it could read the code.
import { cutText } from '@methods/method/cut-text';
import { StepFailure } from '../step-failure.ts';

const LAST_LINE_CHARACTERS_MAX = 500;
const LAST_LINE_KEPT_MAX = 4000;

/** `line`: where a command failed, as the shell's trap saw it. `stderr`: the end of what was printed there, masked:
 * one line of a secret would be found no more. */
export function shellFault(step: string, code: number, stderr: string, line: number | undefined): StepFailure {
  const place = new RegExp(`\\.\\./code/(?:${step}|lib)\\.sh: line (\\d+): (.*)`, 'g');
  for (const [, at, message = ''] of stderr.matchAll(place)) {
    if (/^(syntax error|unexpected EOF)/.test(message)) return new StepFailure('syntax', message, { line: Number(at) });
  }
  const last = [...stderr.matchAll(place)].at(-1);
  const told = line ?? (last === undefined ? undefined : Number(last[1]));
  const lines = stderr.trim().split('\n');
  // Of a line whose beginning was not kept, the rest could be a part of a secret.
  const end = lines.length === 1 && stderr.length > LAST_LINE_KEPT_MAX ? '' : (lines.at(-1) ?? '');
  const shown = cutText(end.replace(/^\.\.\/code\/\w+\.sh: line \d+: /, ''), LAST_LINE_CHARACTERS_MAX);
  const message = `The step ended with exit code ${code}${shown === '' ? '' : `: ${shown}`}`;
  return new StepFailure('exit', message, { code, ...(told === undefined ? {} : { line: told }) });
}
