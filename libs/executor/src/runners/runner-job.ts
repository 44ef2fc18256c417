// One code step on its way through a runner: its inputs and its outcome.
import { createHash } from 'node:crypto';
import type { LocalVersionId, VersionId } from '@methods/base/ids';
import type { CodeBlock, CodeLanguage } from '@methods/method/compiled-method';
import type { JsonValue } from '@methods/method/json';
import type { LogTail } from '../log-tail.ts';
import type { PreparedEnvironment } from '../prepared-environment.ts';
import type { CheckRecord } from '../run-outcome.ts';
import type { StepEvent } from '../step-event.ts';
import type { StepFailure } from '../step-failure.ts';
import type { PythonRuntime } from './python-runtime.ts';

export interface RunnerJob {
  /** Which runners can run it; see `runnerKey`. */
  readonly runnerKey: string;
  readonly language: CodeLanguage;
  readonly memoryMb: number;
  /** The environment's secrets: name to value. */
  readonly secrets: ReadonlyMap<string, string>;
  /** False: no network, if there is a sandbox. */
  readonly network: boolean;
  readonly environment: PreparedEnvironment;
  /** Set only for python steps. */
  readonly python: PythonRuntime | null;
  readonly lib: CodeBlock | null;
  /** It only computes, and may run twice; see `isPlainNodeCode`. */
  readonly plain: boolean;
  /** It meets nothing of its process that other steps could have changed; see `isContainedNodeCode`. */
  readonly contained: boolean;
  /** It may wait in line behind others: it is given no file, which would have to be there before it begins. */
  readonly mayWait: boolean;
  readonly step: string;
  readonly code: string;
  readonly codeLine: number;
  readonly names: readonly string[];
  /** The step's stable key. */
  readonly key: string;
  /** 1 for the first try. */
  readonly tryNumber: number;
  /** In the order of `names`; files with absolute paths. */
  readonly values: readonly JsonValue[];
  /** The absolute paths of the files in `values`. */
  readonly files: readonly string[];
  /** Counted from the moment a runner has the step. Null: no deadline. */
  readonly timeoutMs: number | null;
  /** The deadline as the author wrote it, for the message. */
  readonly timeoutText: string;
  /** Keeps the code's prints up to this many bytes. Null: they are only logged. */
  readonly stdoutBytesMax: number | null;
  readonly log: () => LogTail;
  /** Without secrets, for use in a text. */
  readonly masked: (text: string) => string;
  /** Receives what the code reports while it runs. Undefined: it is ignored. */
  readonly told: ((event: StepEvent) => void) | undefined;
  /** Collects the files that `out` names from the working folder, and returns the out with their values in place. */
  readonly collectFiles: (out: JsonValue, workDir: string) => Promise<JsonValue>;
}

export interface RunnerReply {
  /** Undefined: nothing was returned, or the step failed. */
  readonly out: JsonValue | undefined;
  readonly failure: StepFailure | null;
  readonly checks: readonly CheckRecord[];
  /** The code's prints, if they were kept; longer than the bound when it printed more. */
  readonly stdout: Buffer | null;
  /** Running time of the step's code. */
  readonly ms: number;
  /** Of that, what the process wanted a processor for; undefined: all of it, as far as is known. */
  readonly wantedMs?: number;
}

/** A step on its way to a runner. */
export interface WaitingStep {
  readonly job: RunnerJob;
  /** It may go to a runner together with others. */
  readonly plain: boolean;
  readonly sinceMs: number;
  readonly done: (reply: RunnerReply) => void;
}

export interface RunnerKeyParts {
  readonly language: CodeLanguage;
  readonly versionId: VersionId | LocalVersionId;
  readonly memoryMb: number;
  readonly network: boolean;
  readonly environment: PreparedEnvironment;
  readonly secrets: ReadonlyMap<string, string>;
}

/** A runner serves one language, version, set of secrets and set of limits, so nothing leaks from one to another. */
export function runnerKey({ language, versionId, memoryMb, network, environment, secrets }: RunnerKeyParts): string {
  const plain = `${language} ${versionId} ${memoryMb} ${network} ${environment.nodePath} ${environment.pythonCommand}`;
  if (secrets.size === 0) return plain;
  // By value too: a runner was started with the old value of a changed secret.
  const hash = createHash('sha256');
  for (const name of [...secrets.keys()].sort()) hash.update(JSON.stringify([name, secrets.get(name)]));
  return `${plain} ${hash.digest('hex')}`;
}
