// The files about a step in the run's folder, beside its own files: its inputs, its outcome, and the prints and logs of
// its last try. Everything in them is masked.

import type { RunObserver } from '@methods/executor/journal-events';
import { type LogSource, TextTail } from '@methods/executor/log-tail';
import type { StepEnd } from '@methods/executor/run-outcome';
import type { StepEvent } from '@methods/executor/step-event';
import { type JsonObject, objectOf } from '@methods/method/json';
import { removeRunFile, writeRunFile, writeRunJson } from './run-files.ts';

/** For each file, whose end is kept. */
const LOG_BYTES_MAX = 1024 * 1024;
const IN_BYTES_MAX = 1024 * 1024;

/** The end of a running step's output, by the file it goes to. */
type Said = Readonly<Record<'stdout.log' | 'stderr.log' | 'events.ndjson', TextTail>>;

export class StepFolders implements RunObserver {
  private readonly running = new Map<string, Said>();

  /** `inOrder`: runs writes one after the other, and loses none. */
  constructor(
    private readonly runDir: string,
    private readonly inOrder: (write: () => Promise<void>) => void,
  ) {}

  stepStarted(path: string): void {
    this.running.delete(path);
  }

  /** Stored before the step's end, even if the step is killed. */
  stepGiven(path: string, values: JsonObject): void {
    this.inOrder(() => writeStepFile(this.runDir, path, 'in.json', bounded(values)));
  }

  logged(path: string, text: string, from: LogSource): void {
    if (from === 'stdout' || from === 'stderr') this.saidBy(path)[`${from}.log`].push(text);
  }

  told(path: string, event: StepEvent): void {
    this.saidBy(path)['events.ndjson'].push(`${JSON.stringify({ time: new Date().toISOString(), ...event })}\n`);
  }

  /** Called once for each step; its folder is then complete. */
  async ended(record: StepEnd): Promise<void> {
    const { path, status, log, error, withheld, out } = record;
    if (status === 'skipped') return;
    const said = this.running.get(path);
    this.running.delete(path);
    if (said !== undefined) await this.writeSaid(path, said);
    // The log of a step that returns a secret is written at its end, since it is masked only then.
    else if (log !== null) await writeRunFile(this.runDir, nameOf(path, 'stdout.log'), log.text);
    if (error !== null) await writeStepFile(this.runDir, path, 'error.json', error);
    else if (!withheld) await writeStepFile(this.runDir, path, 'out.json', out);
  }

  private saidBy(path: string): Said {
    let said = this.running.get(path);
    if (said === undefined) {
      said = {
        'stdout.log': new TextTail(LOG_BYTES_MAX),
        'stderr.log': new TextTail(LOG_BYTES_MAX),
        'events.ndjson': new TextTail(LOG_BYTES_MAX),
      };
      this.running.set(path, said);
    }
    return said;
  }

  private async writeSaid(path: string, said: Said): Promise<void> {
    for (const [name, tail] of Object.entries(said)) {
      const { text, cut } = tail.end();
      // A partial line is not an event.
      const whole = cut && name === 'events.ndjson' ? text.slice(text.indexOf('\n') + 1) : text;
      // The output of an earlier attempt does not belong to this one.
      if (whole === '') await removeRunFile(this.runDir, nameOf(path, name));
      else await writeRunFile(this.runDir, nameOf(path, name), whole);
    }
  }
}

export async function writeStepFile(runDir: string, path: string, name: string, value: unknown): Promise<void> {
  await writeRunJson(runDir, nameOf(path, name), value);
}

/** Large values are replaced by their size: the outs they came from have their own files. */
function bounded(values: JsonObject): JsonObject {
  if (bytesOf(values) <= IN_BYTES_MAX) return values;
  const each = Math.floor(IN_BYTES_MAX / Object.keys(values).length);
  return objectOf(
    Object.entries(values).map(([name, value]) => {
      const bytes = bytesOf(value);
      return [name, bytes <= each ? value : `(left out: ${bytes} bytes)`] as const;
    }),
  );
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** `loop[2]/inner` is in `steps/loop.2/inner`. */
function nameOf(path: string, name: string): string {
  return `steps/${path.replaceAll(/\[(\d+)\]/g, '.$1')}/${name}`;
}
