// The protocol features in a worker's hello and a node's welcome, besides the kinds of steps that a worker can run.

/** The worker claims failed runs for their cleanup steps. */
export const CLEANUP_FEATURE = 'cleanup';

/** `last_record`: the last step's record may be inside the report that follows it. `device`: runs in device mode. */
export const NODE_FEATURES: readonly string[] = ['last_record', 'device'];

/** A hello may name any number of features; offers carry only these. */
export function protocolFeatures(features: readonly string[]): readonly string[] {
  return features.includes(CLEANUP_FEATURE) ? [CLEANUP_FEATURE] : [];
}
