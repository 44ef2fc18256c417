// Returns whether questions are mailed to people, as the notifier reports: asked once in half a minute, for any number
// of callers.
import type { Clock } from '@methods/base/clock';
import type { NotifierService } from '@methods/proto/notifier/v1/notifier_service_pb';
import type { Client } from '@methods/rpc/client';

const FRESH_MS = 30_000;
const CALL_MS = 1_000;

/** Null: there is no notifier, or it is unavailable or of the previous release. */
export function mailStatus(
  calls: Pick<Client<typeof NotifierService>, 'getMailStatus'> | null,
  clock: Clock,
): () => Promise<boolean | null> {
  let known: { readonly sendsMail: Promise<boolean | null>; readonly freshUntilMs: number } | null = null;
  return () => {
    if (calls === null) return Promise.resolve(null);
    if (known !== null && clock.monotonicMs() < known.freshUntilMs) return known.sendsMail;
    const sendsMail = calls.getMailStatus({}, { timeoutMs: CALL_MS }).then(
      (reply) => reply.sendsMail,
      () => null,
    );
    known = { sendsMail, freshUntilMs: clock.monotonicMs() + FRESH_MS };
    return sendsMail;
  };
}
