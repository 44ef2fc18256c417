// What a worker is started with.
import type { Clock } from '@methods/base/clock';
import type { ProductionId } from '@methods/base/ids';
import type { Logger } from '@methods/logging/logger';
import type { Grant } from '@methods/proto/worker/v1/worker_service_pb';
import type { HeldRunParts } from './held-run.ts';

export interface WorkerOptions {
  /** The run-scheduler's worker endpoints: `host:port`, or `https://host:port` over TLS. */
  readonly addresses: readonly string[];
  /** `sk_...`, the auth part of a service key. */
  readonly authPart: string;
  /** The content part of the key, which opens runs in device mode; absent: the worker is offered none. */
  readonly contentPart?: string | undefined;
  /** For an access token in its place: returns the present one, renewed before it expires, and when it was refused. */
  readonly renewedToken?: (refused: boolean) => Promise<string>;
  /** Production ids, wf_... */
  readonly methods: readonly ProductionId[];
  /** Shown to people beside the machine's name; absent: none. */
  readonly name?: string | undefined;
  /** The number of runs executed at the same time. */
  readonly concurrency: number;
  /** The environment's values. A run gets only those that its method declares. */
  readonly secrets: ReadonlyMap<string, string>;
  /** Holds runners' exchange folders and run folders. */
  readonly dataDir: string;
  /** Holds prepared environments. Other workers of this machine may share it. */
  readonly cacheDir: string;
  /** Whether steps run in a sandbox, where bubblewrap works. */
  readonly sandbox: boolean;
  /** Whether packages may run their install scripts. */
  readonly allowInstallScripts: boolean;
  /** PATH of the steps. */
  readonly path: string;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A step that takes longer is reported as running. */
  readonly startsToldAfterMs?: number;
  /** How long steps may continue after a stop was requested. */
  readonly drainMs?: number;
  readonly onConnected?: () => void;
  /** Called with the result of a run in device mode, which stays on this machine. */
  readonly onResult?: HeldRunParts['onResult'];
  readonly onResultMade?: HeldRunParts['onResultMade'];
  /** Called when a run ends here, with its status, `given back`, `taken` or `lost`. */
  readonly onRunEnded?: (run: Pick<Grant, 'runId' | 'method' | 'attempt'>, end: string) => void;
}
