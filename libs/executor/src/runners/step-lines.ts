// Builds the lines that a warm runner gets for a step: the version's lib and the step's code before their first use,
// then the step's values.
import type { CodeBlock } from '@methods/method/compiled-method';
import type { ExchangeFolder } from './exchange-folder.ts';
import type { RunnerJob } from './runner-job.ts';
import type { CodeMessage, LibMessage, StepMessage } from './runner-protocol.ts';

const VALUES_FILE = 'STEP_IN';

/** True for code that finds its values in a file as well. */
export function readsValuesFile(code: string, lib: CodeBlock | null): boolean {
  return code.includes(VALUES_FILE) || lib?.code.includes(VALUES_FILE) === true;
}

export class StepLines {
  /** Steps whose code was sent, and whether it reads its values from a file. */
  private readonly known = new Map<string, boolean>();

  constructor(
    private readonly folder: ExchangeFolder,
    private readonly isSandboxed: boolean,
  ) {}

  /** Throws when a file of its values is missing. */
  of(n: number, job: RunnerJob, isQueued: boolean): string {
    const { step, key, code, codeLine, names, tryNumber } = job;
    const values = this.isSandboxed ? this.folder.withFiles(job.values, job.files).values : job.values;
    const kind = { ...(job.contained && { contained: true as const }), ...(isQueued && { queued: true as const }) };
    const run: StepMessage = { t: 'step', n, step, key, try: tryNumber, values, ...kind };
    // Writes the values to a file only for code that reads it: most does not, and a file costs as much as a short step.
    const known = this.known.get(step);
    const reads = known ?? readsValuesFile(code, job.lib);
    const told: StepMessage = reads ? { ...run, in: this.folder.writeValues(names, values) } : run;
    if (known !== undefined) return `${JSON.stringify(told)}\n`;
    const messages: (LibMessage | CodeMessage | StepMessage)[] = [];
    if (this.known.size === 0 && job.lib !== null) messages.push({ t: 'lib', code: job.lib.code, line: job.lib.line });
    this.known.set(step, reads);
    messages.push({ t: 'code', step, code, line: codeLine, names }, told);
    return messages.map((message) => `${JSON.stringify(message)}\n`).join('');
  }
}
