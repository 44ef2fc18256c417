// The mark of running work.

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as const;
const FRAME_MS = 120;

/** Only by the time, so that several views turn together. `nowMs` of any clock that grows. */
export function spinner(nowMs: number): string {
  return FRAMES[Math.floor(nowMs / FRAME_MS) % FRAMES.length] ?? FRAMES[0];
}
