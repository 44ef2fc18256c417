// What a worker's hello says of the protocol it knows, beside the kinds of steps it can run.

/** Claims for what follows a failure alone. */
export const CLEANUP_FEATURE = 'cleanup';

/** A hello may name any number of words; offers carry these. */
export function protocolFeatures(features: readonly string[]): readonly string[] {
  return features.includes(CLEANUP_FEATURE) ? [CLEANUP_FEATURE] : [];
}
