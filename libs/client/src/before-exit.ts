// One listener of the process for the workers of all clients: Node warns of a leak when there are more than ten.

const leaves = new Set<() => void>();

/** Once: leaving takes time, after which Node emits the event again. */
function leaveAll(): void {
  const all = [...leaves];
  leaves.clear();
  process.off('beforeExit', leaveAll);
  for (const leave of all) leave();
}

export const beforeExit = {
  add(leave: () => void): void {
    if (leaves.size === 0) process.on('beforeExit', leaveAll);
    leaves.add(leave);
  },

  remove(leave: () => void): void {
    leaves.delete(leave);
    if (leaves.size === 0) process.off('beforeExit', leaveAll);
  },
};
