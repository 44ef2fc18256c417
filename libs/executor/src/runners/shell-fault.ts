// Why did a shell step end with an exit code? What bash wrote tells the line, and whether it could read the code.
import { StepFailure } from '../step-failure.ts';

const LAST_LINE_CHARACTERS_MAX = 500;

/** `line`: where a command failed, as the shell's trap saw it. `stderr`: the end of what was printed there. */
export function shellFault(step: string, code: number, stderr: string, line: number | undefined): StepFailure {
  const place = new RegExp(`\\.\\./code/(?:${step}|lib)\\.sh: line (\\d+): (.*)`, 'g');
  for (const [, at, message = ''] of stderr.matchAll(place)) {
    if (/^(syntax error|unexpected EOF)/.test(message)) return new StepFailure('syntax', message, { line: Number(at) });
  }
  const last = [...stderr.matchAll(place)].at(-1);
  const told = line ?? (last === undefined ? undefined : Number(last[1]));
  const end = stderr.trim().split('\n').at(-1)?.slice(0, LAST_LINE_CHARACTERS_MAX) ?? '';
  const shown = end.replace(/^\.\.\/code\/\w+\.sh: line \d+: /, '');
  const message = `The step ended with exit code ${code}${shown === '' ? '' : `: ${shown}`}`;
  return new StepFailure('exit', message, { code, ...(told === undefined ? {} : { line: told }) });
}
