// A saved version with what the gateway needs: its steps and its inputs.
import type { OrgId, VersionId } from '@methods/base/ids';
import { compileCheck, TURN_EFFORT, type ValueCheck } from '@methods/method/check-value';
import type { JsonObject, JsonSchema, JsonValue } from '@methods/method/json';
import { unmetRequirements } from '@methods/method/unmet-requirements';
import type { Version } from '@methods/proto/registry/v1/method_pb';
import { compiledSource, type StartFacts, startFacts } from '../sources/read-source.ts';
import { isShort, type SourceThreads } from '../sources/source-threads.ts';
import type { DeclaredStep } from '../views/step-view.ts';

export interface MethodVersion {
  readonly versionId: VersionId;
  /** Null for workflow/1: it is stored and shown, but must be rewritten before it can run. */
  readonly startable: StartableVersion | null;
  readonly steps: readonly DeclaredStep[];
  /** Estimated memory of the whole object. */
  readonly bytes: number;
}

export interface StartableVersion {
  readonly inputSchema: JsonSchema;
  /** Some input may be a file. */
  readonly takesFiles: boolean;
  /** Checks inputs and fills in defaults, within a turn of the event loop. */
  readonly checkInputs: (inputs: JsonValue) => ValueCheck;
  /** Returns the sentences of the `require` checks that the inputs do not meet. */
  readonly unmet: Unmet;
  /** Features that a worker must have. */
  readonly needs: readonly string[];
  /** A failed step may leave cleanup to do. */
  readonly cleansUp: boolean;
  readonly onlyComputes: boolean;
  /** A question has rules about who answers it, which cannot be applied to sealed answers. */
  readonly namesAnswerers: boolean;
}

type Unmet = (inputs: JsonObject) => readonly string[] | Promise<readonly string[]>;

// Compiled schemas and expressions take a multiple of the size of their source.
const BYTES_PER_SOURCE_BYTE = 20;
const BYTES_AT_LEAST = 20_000;

/** @throws ServiceError invalid_method, rate_limited, unavailable for a long source. */
export async function methodVersion(
  orgId: OrgId,
  { versionId, schemaVersion, sha256, source }: Version,
  threads: SourceThreads,
): Promise<MethodVersion> {
  const bytes = BYTES_AT_LEAST + source.length * BYTES_PER_SOURCE_BYTE;
  if (schemaVersion === 'workflow/1') return { versionId, startable: null, steps: [], bytes };
  if (isShort({ source })) {
    const method = compiledSource(source);
    return { versionId, ...startable(startFacts(method), (inputs) => unmetRequirements(method, inputs)), bytes };
  }
  // The conditions that refuse inputs cannot leave the thread: they are evaluated there at each start.
  const saved = { orgId, sha256, source };
  const facts = await threads.startFacts(saved);
  return {
    versionId,
    ...startable(facts, (inputs) => (facts.hasRequirements ? threads.unmet(saved, inputs) : [])),
    bytes,
  };
}

function startable(
  { inputSchema, steps, ...facts }: StartFacts,
  unmet: Unmet,
): Pick<MethodVersion, 'startable' | 'steps'> {
  const check = compileCheck(inputSchema);
  const takesFiles = JSON.stringify(inputSchema).includes('"x-type":"file"');
  const checkInputs = (inputs: JsonValue) => check(inputs, TURN_EFFORT);
  return { startable: { ...facts, inputSchema, takesFiles, checkInputs, unmet }, steps };
}
