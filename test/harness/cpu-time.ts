// Measures the CPU time of a piece of work on a shared machine that may be several times slower than the one where the
// bounds were written: compares it with a fixed piece of work done beside it.

/** The time of `fixedWork` where the bounds were written. */
const FIXED_MS = 5;
const ROUNDS_MAX = 10;

/**
 * CPU time in ms, scaled to the speed of the machine where the bounds were written. The least of ten rounds, of which
 * the first warm up; stops early at a round below `enoughMs`.
 */
export function leastCpuMs(enoughMs: number, work: () => void): number {
  let leastMs = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS_MAX && leastMs >= enoughMs; round++) {
    const before = spentMs(fixedWork);
    const tookMs = spentMs(work);
    const slowness = Math.max(1, before / FIXED_MS, spentMs(fixedWork) / FIXED_MS);
    leastMs = Math.min(leastMs, tookMs / slowness);
  }
  return leastMs;
}

function spentMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Objects, texts and numbers, as in the work of this project. */
function fixedWork(): void {
  const seen = new Map<string, { n: number }>();
  for (let n = 0; n < 36_000; n++) {
    const key = `key${(n * 7_919) % 4_001}`;
    const known = seen.get(key);
    if (known === undefined) seen.set(key, { n });
    else known.n += key.charCodeAt(n % key.length);
  }
  if (JSON.parse(JSON.stringify([...seen.values()])).length !== 4_001) throw new Error('wrong result');
}
