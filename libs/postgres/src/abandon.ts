// Abandons work whose caller no longer waits: queries not sent yet are never sent, and those in flight are cancelled.

const ABANDON = Symbol('abandon');

/** Work that can be given up: `abandon` is called at most once, and the work then settles as it likes. */
export function abandonable<Work extends object>(work: Work, abandon: () => void): Work {
  return Object.assign(work, { [ABANDON]: abandon });
}

/** Does nothing where the work does not know how. */
export function abandon(work: object): void {
  (work as { [ABANDON]?: () => void })[ABANDON]?.();
}
