// Measures CPU and memory of whole process trees from /proc: a Postgres includes its backends, a worker its runners.
import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_S = 100;

interface Stat {
  readonly pid: number;
  readonly parent: number;
  /** User and system time, including that of ended children. */
  readonly cpuS: number;
  /** The part of it spent in the kernel. */
  readonly kernelS: number;
}

function allProcesses(): Stat[] {
  const stats: Stat[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'utf8');
      const fields = text
        .slice(text.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number);
      const seconds = (at: readonly number[]) => at.reduce((sum, n) => sum + (fields[n] ?? 0), 0) / TICKS_PER_S;
      const [cpuS, kernelS] = [seconds([11, 12, 13, 14]), seconds([12, 14])];
      stats.push({ pid: Number(name), parent: fields[1] ?? 0, cpuS, kernelS });
    } catch {
      // It ended meanwhile.
    }
  }
  return stats;
}

function treeOf(root: number, all: readonly Stat[]): Stat[] {
  const found = all.filter((stat) => stat.pid === root);
  for (let at = 0; at < found.length; at++) {
    for (const stat of all) if (stat.parent === found[at]?.pid) found.push(stat);
  }
  return found;
}

/** 0: the process does not exist. */
export function parentOf(pid: number): number {
  return allProcesses().find((stat) => stat.pid === pid)?.parent ?? 0;
}

/** A process and all its descendants, parents first. */
export function processTree(root: number): number[] {
  return treeOf(root, allProcesses()).map(({ pid }) => pid);
}

export function cpuSeconds(roots: readonly number[]): number[] {
  const all = allProcesses();
  return roots.map((root) => treeOf(root, all).reduce((sum, stat) => sum + stat.cpuS, 0));
}

export function kernelSeconds(roots: readonly number[]): number[] {
  const all = allProcesses();
  return roots.map((root) => treeOf(root, all).reduce((sum, stat) => sum + stat.kernelS, 0));
}

/** Private memory in bytes. Postgres's shared buffers and the page cache do not count. */
export function privateBytes(roots: readonly number[]): number[] {
  const all = allProcesses();
  return roots.map((root) => treeOf(root, all).reduce((sum, { pid }) => sum + privateOf(pid), 0));
}

/** The same of each process without its children. */
export function ownPrivateBytes(pids: readonly number[]): number[] {
  return pids.map(privateOf);
}

function privateOf(pid: number): number {
  let bytes = 0;
  let shared = false;
  try {
    for (const line of readFileSync(`/proc/${pid}/smaps`, 'utf8').split('\n')) {
      // The head of a mapping: a shared mapping counts as private while a single process has touched the page.
      const head = /^[0-9a-f]+-[0-9a-f]+ (\S{4}) /.exec(line);
      if (head !== null) shared = head[1]?.endsWith('s') === true;
      else if (!shared && line.startsWith('Private_')) bytes += Number(/(\d+) kB/.exec(line)?.[1] ?? 0) * 1024;
    }
  } catch {
    // It ended meanwhile.
  }
  return bytes;
}
