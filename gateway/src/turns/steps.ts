// Work that is written once and runs in two ways: in one go, or in slices beside other work. It may pause at each bare
// `yield`, and waits at each `yield` of a promise.

export type Steps<T> = Generator<Promise<unknown> | undefined, T, unknown>;

/** Waits for a promise; a plain value costs nothing. */
export function* settled<T>(value: T | Promise<T | Promise<T>>): Steps<T> {
  return value instanceof Promise ? ((yield value) as T) : value;
}

/** Runs in one go. */
export async function allSteps<T>(steps: Steps<T>): Promise<T> {
  let step = steps.next();
  while (!step.done) {
    if (step.value === undefined) {
      step = steps.next();
      continue;
    }
    let value: unknown;
    try {
      value = await step.value;
    } catch (error) {
      step = steps.throw(error);
      continue;
    }
    step = steps.next(value);
  }
  return step.value;
}

/** Runs divisible work at once: for small work. */
export function atOnce<T>(work: Iterator<unknown, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}
