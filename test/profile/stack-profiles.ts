// Begins and ends the CPU profiles of a stack's processes, each of which has loaded `profile-on-signal.mjs`.
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../harness/until.ts';

interface Profiled {
  readonly name: string;
  readonly pid: number;
}

export async function beginProfiles(folder: string, processes: readonly Profiled[]): Promise<void> {
  for (const { pid } of processes) process.kill(pid, 'SIGIO');
  await until('all profiles have begun', () => processes.every(({ pid }) => existsSync(join(folder, `${pid}.begun`))));
}

/** Then each is a file of the folder, named as its process. */
export async function endProfiles(folder: string, processes: readonly Profiled[]): Promise<void> {
  for (const { pid } of processes) process.kill(pid, 'SIGIO');
  const fileOf = ({ pid }: Profiled) => join(folder, `${pid}.cpuprofile`);
  await until('all profiles are written', () => processes.every((one) => existsSync(fileOf(one))));
  for (const { pid } of processes) rmSync(join(folder, `${pid}.begun`));
  for (const one of processes) renameSync(fileOf(one), join(folder, `${one.name}.cpuprofile`));
}
