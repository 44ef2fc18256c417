// What a person finds of a step in the run's folder, beside the files the step gave.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { StepEnd } from '@methods/executor/run-outcome';
import { writeJson } from './run-record.ts';

export async function writeStep(runDir: string, record: StepEnd): Promise<void> {
  const { path, status, log, error, withheld, out } = record;
  if (status === 'skipped') return;
  if (log !== null) await writeFile(join(await made(runDir, path), 'stdout.log'), log.text);
  if (error !== null) await writeStepFile(runDir, path, 'error.json', error);
  else if (!withheld) await writeStepFile(runDir, path, 'out.json', out);
}

export async function writeStepFile(runDir: string, path: string, name: string, value: unknown): Promise<void> {
  await writeJson(join(await made(runDir, path), name), value);
}

/** `loop[2]/inner` stands in `steps/loop.2/inner`. */
async function made(runDir: string, path: string): Promise<string> {
  const dir = join(runDir, 'steps', ...path.replaceAll(/\[(\d+)\]/g, '.$1').split('/'));
  await mkdir(dir, { recursive: true });
  return dir;
}
