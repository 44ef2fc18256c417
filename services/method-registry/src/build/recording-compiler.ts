// Compiles a recording apart from everything else: in a process of its own, with bounds on its memory and its time, so
// that no recording makes the registry slow or ends it. (A thread is not enough: an allocation that V8 cannot serve ends
// the whole process, whatever the thread's limits are.)
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { RecordingFinding } from '@methods/method/recording/compile-recording';
import type { InjectionToken } from 'tsyringe';

const HEAP_MIB_MAX = 1_024;
const TIME_MAX_MS = 50_000;

export interface CompileRequest {
  readonly bytes: Uint8Array;
  /** Words for the method's name; empty: those of the recording. */
  readonly name: string;
}

export type CompileReply =
  | { readonly kind: 'drafted'; readonly source: string }
  | { readonly kind: 'refused'; readonly code: RecordingFinding['code'] };

export type Compiled = CompileReply | { readonly kind: 'too_much_memory' | 'too_long' | 'broke_down' };

export interface RecordingCompiler {
  /** Rejects only when `signal` aborts. */
  compile(request: CompileRequest, signal: AbortSignal): Promise<Compiled>;
}
export const RecordingCompiler: InjectionToken<RecordingCompiler> = Symbol('RecordingCompiler');

export interface CompilerLimits {
  readonly heapMibMax?: number;
  readonly timeMaxMs?: number;
}

const BODY = fileURLToPath(new URL('./compile-process.ts', import.meta.url));
const TSX = import.meta.resolve('tsx');

export function processCompiler({ heapMibMax = HEAP_MIB_MAX, timeMaxMs = TIME_MAX_MS }: CompilerLimits = {}) {
  return {
    async compile({ bytes, name }: CompileRequest, signal: AbortSignal): Promise<Compiled> {
      signal.throwIfAborted();
      const deadline = AbortSignal.timeout(timeMaxMs);
      const child = spawn(process.execPath, [`--max-old-space-size=${heapMibMax}`, '--import', TSX, BODY], {
        // Not the environment's secrets.
        env: {},
        stdio: ['pipe', 'pipe', 'ignore'],
      });
      const end = () => child.kill('SIGKILL');
      const stop = AbortSignal.any([signal, deadline]);
      stop.addEventListener('abort', end);
      // It may end before it has read everything.
      child.stdin.on('error', () => {});
      child.stdin.write(`${JSON.stringify(name)}\n`);
      child.stdin.end(bytes);
      try {
        const [reply] = await Promise.all([text(child.stdout), ended(child)]);
        signal.throwIfAborted();
        if (deadline.aborted) return { kind: 'too_long' };
        if (child.exitCode === 0) return JSON.parse(reply) as CompileReply;
        return { kind: ranOutOfMemory(child) ? 'too_much_memory' : 'broke_down' };
      } finally {
        stop.removeEventListener('abort', end);
      }
    },
  } satisfies RecordingCompiler;
}

/** Resolves also when it could not be started. */
async function ended(child: ChildProcess): Promise<void> {
  await once(child, 'close').catch(() => {});
}

/** V8 gives up by SIGABRT; a shell or a container tells that as 134, and the kernel's own limit as SIGKILL. */
function ranOutOfMemory({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === 134 || signalCode === 'SIGABRT' || signalCode === 'SIGKILL';
}
