// Compiles a recording in a separate process, with bounds on its memory and time, so that no recording slows the
// registry or ends it. (A thread is not enough: an allocation that V8 cannot serve ends the whole process, in spite of
// the thread's limits.)
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { withTimeLimit } from '@methods/base/time-limit';
import { nodeArguments } from '@methods/built-code/node-arguments';
import type { RecordingFinding } from '@methods/method/recording/compile-recording';
import type { InjectionToken } from 'tsyringe';
import type { SourceVerdict } from '../method/method-source.ts';

const HEAP_MIB_MAX = 1_024;
const TIME_MAX_MS = 50_000;
/** For reading a recording of any size from its store. */
const READ_MS_MAX = 300_000;

export interface CompileRequest {
  /** The recording, in pieces; passed to the process as they arrive, so that this process never holds all of it. */
  readonly parts: AsyncIterable<Uint8Array>;
  readonly sizeBytes: number;
  /** The method's name; empty: derived from the recording. */
  readonly name: string;
}

/** The first line that the process reads. */
export interface CompileHead {
  readonly name: string;
  readonly sizeBytes: number;
  readonly timeMaxMs: number;
}

export type CompileReply =
  | { readonly kind: 'drafted'; readonly source: string; readonly verdict: SourceVerdict }
  | { readonly kind: 'refused'; readonly code: RecordingFinding['code'] }
  | { readonly kind: 'draft_too_large' };

export type Compiled =
  | CompileReply
  /** The parts have more or fewer bytes than the recording. */
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'too_much_memory' | 'too_long' | 'broke_down' };

export interface RecordingCompiler {
  /** Rejects when `signal` aborts and when the parts cannot be read. */
  compile(request: CompileRequest, signal: AbortSignal): Promise<Compiled>;
}
export const RecordingCompiler: InjectionToken<RecordingCompiler> = Symbol('RecordingCompiler');

export interface CompilerLimits {
  readonly heapMibMax?: number;
  readonly timeMaxMs?: number;
}

const BODY = new URL('./compile-process.ts', import.meta.url);

export function processCompiler({ heapMibMax = HEAP_MIB_MAX, timeMaxMs = TIME_MAX_MS }: CompilerLimits = {}) {
  return {
    async compile({ parts, sizeBytes, name }: CompileRequest, signal: AbortSignal): Promise<Compiled> {
      signal.throwIfAborted();
      const child = spawn(process.execPath, [`--max-old-space-size=${heapMibMax}`, ...nodeArguments(BODY)], {
        // The environment has secrets, so none is passed on.
        env: {},
        stdio: ['pipe', 'pipe', 'ignore'],
      });
      const close = ended(child);
      const end = () => child.kill('SIGKILL');
      signal.addEventListener('abort', end);
      // The process may end before it has read everything, or before it is killed.
      child.on('error', () => {});
      child.stdin.on('error', () => {});
      try {
        const head: CompileHead = { name, sizeBytes, timeMaxMs };
        child.stdin.write(`${JSON.stringify(head)}\n`);
        const reading = withTimeLimit(signal, READ_MS_MAX);
        if ((await fed(parts, sizeBytes, child.stdin, reading)) !== sizeBytes) return { kind: 'incomplete' };
        const deadline = AbortSignal.timeout(timeMaxMs);
        deadline.addEventListener('abort', end);
        child.stdin.end();
        const [reply] = await Promise.all([text(child.stdout), close]);
        deadline.removeEventListener('abort', end);
        signal.throwIfAborted();
        if (deadline.aborted) return { kind: 'too_long' };
        if (child.exitCode === 0) return JSON.parse(reply) as CompileReply;
        return { kind: ranOutOfMemory(child) ? 'too_much_memory' : 'broke_down' };
      } finally {
        signal.removeEventListener('abort', end);
        end();
        await close;
      }
    },
  } satisfies RecordingCompiler;
}

/** Returns the number of bytes, or more than allowed. */
async function fed(
  parts: CompileRequest['parts'],
  sizeBytes: number,
  into: Writable,
  signal: AbortSignal,
): Promise<number> {
  let bytes = 0;
  // One promise for all waits, since a listener that lost its race would remain.
  const closed = once(into, 'close', { signal });
  closed.catch(() => {});
  for await (const part of parts) {
    signal.throwIfAborted();
    bytes += part.length;
    if (bytes > sizeBytes) break;
    if (into.destroyed || into.write(part)) continue;
    await Promise.race([once(into, 'drain', { signal }), closed]);
  }
  return bytes;
}

/** Resolves even if the process could not be started. */
async function ended(child: ChildProcess): Promise<void> {
  await once(child, 'close').catch(() => {});
}

/** V8 aborts with SIGABRT, which a shell or a container reports as 134; the kernel's own limit is SIGKILL. */
function ranOutOfMemory({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === 134 || signalCode === 'SIGABRT' || signalCode === 'SIGKILL';
}
