// What a worker's hello and a node's welcome say of the protocol they know, beside the kinds of steps a worker can run.

/** Claims for what follows a failure alone. */
export const CLEANUP_FEATURE = 'cleanup';

/** `last_record`: the last step's record may come within the report that follows it. */
export const NODE_FEATURES: readonly string[] = ['last_record'];

/** A hello may name any number of words; offers carry these. */
export function protocolFeatures(features: readonly string[]): readonly string[] {
  return features.includes(CLEANUP_FEATURE) ? [CLEANUP_FEATURE] : [];
}
