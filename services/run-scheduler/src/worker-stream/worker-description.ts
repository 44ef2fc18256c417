// A connected worker's description of itself, as people see it, and the protocol features of its hello. It is short,
// since a worker may name a thousand methods.
import type { ProductionId } from '@methods/base/ids';

const METHODS_MAX = 50;
const FEATURES_MAX = 50;
const WORD_CHARACTERS_MAX = 100;

export interface WorkerDescription {
  readonly workerId: string;
  readonly methods: readonly ProductionId[];
  /** Counts also the methods that are omitted. */
  readonly methodsCount: number;
  readonly features: readonly string[];
  readonly sdk: string;
  readonly name: string;
  readonly host: string;
  readonly connectedAtMs: number;
}

interface Said {
  readonly workerId: string;
  readonly methods: readonly ProductionId[];
  readonly features: readonly string[];
  readonly sdk?: string;
  readonly name?: string;
  readonly host?: string;
}

export function describeWorker(said: Said, nowMs: number): WorkerDescription {
  const { workerId, methods, features, sdk = '', name = '', host = '' } = said;
  const named = [...new Set(methods)];
  return {
    workerId,
    methods: named.slice(0, METHODS_MAX),
    methodsCount: named.length,
    features: features.slice(0, FEATURES_MAX).map((feature) => feature.slice(0, WORD_CHARACTERS_MAX)),
    sdk: sdk.slice(0, WORD_CHARACTERS_MAX),
    name: name.slice(0, WORD_CHARACTERS_MAX),
    host: host.slice(0, WORD_CHARACTERS_MAX),
    connectedAtMs: nowMs,
  };
}

/** The worker claims failed runs for their cleanup steps. */
export const CLEANUP_FEATURE = 'cleanup';

/**
 * The protocol features of hello and welcome, besides the kinds of steps that a worker can run. `last_record`: the last
 * step's record may be inside the report that follows it. `device`: runs in device mode.
 */
export const NODE_FEATURES: readonly string[] = ['last_record', 'device'];

/** A hello may name any number of features; offers carry only these. */
export function protocolFeatures(features: readonly string[]): readonly string[] {
  return features.includes(CLEANUP_FEATURE) ? [CLEANUP_FEATURE] : [];
}
