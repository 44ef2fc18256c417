// A broken invariant stops the current work with a typed error; it never ends the process.

export class AssertionFailed extends Error {
  override readonly name = 'AssertionFailed';
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionFailed(message);
}

/** For the default branch of a switch over a union: a new member without a branch is a type error. */
export function unreachable(value: never): never {
  throw new AssertionFailed(`unexpected value ${typeof value}`);
}
