// `methods doctor`: checks what a worker or a server needs here, and reports what is missing and how to fix it.
import { SERVER_OPTIONS } from '../chosen-server/open-server.ts';
import type { Command } from '../command/command.ts';
import { EXIT } from '../errors/command-error.ts';
import type { Output, Paint } from '../terminal/output.ts';
import { plainText } from '../terminal/plain-text.ts';
import { type Finding, runtimeFindings } from './runtime-findings.ts';
import { serverFindings } from './server-findings.ts';

const MARKS: Readonly<Record<Finding['state'], readonly [string, Paint]>> = {
  ok: ['ok', 'green'],
  warning: ['warning', 'yellow'],
  problem: ['problem', 'red'],
};

export const doctorCommand: Command = {
  name: 'doctor',
  usage: '[--server URL]',
  summary: 'Check what this machine needs to run methods and reach the server',
  details: ['Exits with 1 if there is a problem; a warning is about something that not every method needs.'],
  options: SERVER_OPTIONS,
  operands: { min: 0, max: 0, word: 'argument' },
  examples: ['methods doctor', 'methods doctor --server https://methods.example.com --json'],

  async run(line, context) {
    const { output, config } = context;
    const [runtimes, server] = await Promise.all([runtimeFindings(config.path), serverFindings(line, context)]);
    const findings = [...runtimes, ...server];
    const well = findings.every(({ state }) => state !== 'problem');
    output.document({ ok: well, checks: findings });
    for (const finding of findings) show(finding, output);
    return well ? EXIT.done : EXIT.failed;
  },
};

/** With --quiet only problems are printed. */
function show({ name, state, found, remedy }: Finding, output: Output): void {
  const [word, paint] = MARKS[state];
  const text = `${output.paint(paint, word.padEnd(8))} ${name.padEnd(16)} ${plainText(found)}`;
  if (state === 'ok') return output.line(text);
  output.result(text);
  if (remedy !== null) output.result(`${' '.repeat(26)}${output.paint('dim', plainText(remedy))}`);
}
