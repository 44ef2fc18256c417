// Reads the processes of this machine from /proc; the table is empty where /proc is missing.
import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessEntry {
  readonly parent: number;
  readonly group: number;
}

export type ProcessTable = ReadonlyMap<number, ProcessEntry>;

const PAGE_BYTES = 4096;

export function readProcessTable(): ProcessTable {
  const table = new Map<number, ProcessEntry>();
  for (const name of namesIn('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const stat = textOf(`/proc/${pid}/stat`);
    // The command's name is in parentheses and may contain any character.
    const [state, parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 3);
    if (state !== undefined && state !== 'Z') table.set(pid, { parent: Number(parent), group: Number(group) });
  }
  return table;
}

/** The group's processes and all their descendants, including those that left the group. */
export function groupMembers(table: ProcessTable, leader: number): number[] {
  const isMember = new Map<number, boolean>();
  const belongs = (pid: number): boolean => {
    let known = isMember.get(pid);
    if (known === undefined) {
      const entry = table.get(pid);
      // Added first: a table read while processes come and go may contain a cycle.
      isMember.set(pid, false);
      known = entry !== undefined && (pid === leader || entry.group === leader || belongs(entry.parent));
      isMember.set(pid, known);
    }
    return known;
  };
  return [...table.keys()].filter(belongs);
}

/** When the process started, in ticks of the machine. Null: it is gone, or a zombie. */
export function processStart(pid: number): string | null {
  const stat = textOf(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return stat === '' || fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? null);
}

/** True while its main thread has a processor or waits for one. */
export function wantsProcessor(pid: number): boolean {
  const stat = textOf(`/proc/${pid}/stat`);
  return stat.charAt(stat.lastIndexOf(')') + 2) === 'R';
}

/** The living children of the process and of each of its threads. */
export function childrenOf(pid: number): number[] {
  const listed = namesIn(`/proc/${pid}/task`).map((thread) => textOrNull(`/proc/${pid}/task/${thread}/children`));
  // A kernel that does not list children: searches the table, which costs a read of every process.
  if (listed.includes(null)) return [...readProcessTable()].flatMap(([it, { parent }]) => (parent === pid ? [it] : []));
  return listed.flatMap((text) => text?.split(' ').filter(Boolean).map(Number) ?? []).filter((it) => processStart(it));
}

/** The process's private memory, without mapped files; 0 when it is gone. */
export function ownMemoryBytes(pid: number): number {
  const [, resident = 0, shared = 0] = textOf(`/proc/${pid}/statm`).split(' ').map(Number);
  return Math.max(0, resident - shared) * PAGE_BYTES;
}

/** The processes whose environment names the folder as their step's, including those that left its group. */
export function processesOfFolder(table: ProcessTable, workDir: string): number[] {
  // Compares the raw bytes, independent of their encoding.
  const mark = Buffer.from(`STEP_DIR=${workDir}`).toString('latin1');
  return [...table.keys()].filter((pid) => {
    const environment = textOf(`/proc/${pid}/environ`);
    return environment.includes(mark) && environment.split('\0').includes(mark);
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function textOf(file: string): string {
  // Null: it ended meanwhile, or belongs to another user.
  return textOrNull(file) ?? '';
}

function textOrNull(file: string): string | null {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return null;
  }
}
