// Reports whether a process of this machine is running, by its id.

/** Returns false for an invalid process id. A process of another user counts, though it cannot be signalled. */
export function isRunning(pid: number): boolean {
  // 0 and negative ids name groups of processes.
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
