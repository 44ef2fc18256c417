// Compiles a recording apart from everything else: in a thread of its own, with bounds on its memory and its time, so
// that no recording makes the registry slow or ends it.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { RecordingFinding } from '@methods/method/recording/compile-recording';
import type { InjectionToken } from 'tsyringe';

const HEAP_MIB_MAX = 1_024;
const TIME_MAX_MS = 30_000;

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
  /** `bytes` are used up. Rejects only when `signal` aborts. */
  compile(request: CompileRequest, signal: AbortSignal): Promise<Compiled>;
}
export const RecordingCompiler: InjectionToken<RecordingCompiler> = Symbol('RecordingCompiler');

export interface CompilerLimits {
  readonly heapMibMax?: number;
  readonly timeMaxMs?: number;
}

export function threadCompiler({ heapMibMax = HEAP_MIB_MAX, timeMaxMs = TIME_MAX_MS }: CompilerLimits = {}) {
  return {
    async compile(request: CompileRequest, signal: AbortSignal): Promise<Compiled> {
      signal.throwIfAborted();
      const bytes = ownBuffer(request.bytes);
      const thread = new Worker(BODY, {
        workerData: { ...request, bytes } satisfies CompileRequest,
        transferList: [bytes.buffer],
        resourceLimits: { maxOldGenerationSizeMb: heapMibMax },
        // Neither the environment's secrets nor what the process was started with.
        env: {},
        execArgv: [],
      });
      const end = AbortSignal.any([signal, AbortSignal.timeout(timeMaxMs)]);
      try {
        const [reply] = (await Promise.race([
          once(thread, 'message', { signal: end }),
          once(thread, 'exit', { signal: end }).then(() => [{ kind: 'broke_down' }]),
        ])) as [Compiled];
        return reply;
      } catch (error) {
        signal.throwIfAborted();
        if (end.aborted) return { kind: 'too_long' };
        const isMemory = (error as { code?: unknown } | null)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
        return { kind: isMemory ? 'too_much_memory' : 'broke_down' };
      } finally {
        await thread.terminate();
      }
    },
  } satisfies RecordingCompiler;
}

// A thread begins without the loader of TypeScript that the process was started with.
const BODY = new URL(
  `data:text/javascript,${encodeURIComponent(
    [
      `import { register } from ${JSON.stringify(import.meta.resolve('tsx/esm/api'))};`,
      'register();',
      `await import(${JSON.stringify(new URL('./compile-thread.ts', import.meta.url).href)});`,
    ].join('\n'),
  )}`,
);

/** Bytes with a buffer to themselves, which can be handed over whole. */
function ownBuffer(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = bytes;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) return bytes as Uint8Array<ArrayBuffer>;
  return new Uint8Array(bytes);
}
