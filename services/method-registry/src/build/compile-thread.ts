// The body of the thread that compiles one recording. What a recording can do to it ends with the thread.
import { parentPort, workerData } from 'node:worker_threads';
import { compileRecording } from '@methods/method/recording/compile-recording';
import type { CompileReply, CompileRequest } from './recording-compiler.ts';

const { bytes, name } = workerData as CompileRequest;
const { source, findings } = compileRecording(new TextDecoder().decode(bytes), name === '' ? {} : { name });
const [first] = findings;
// Told by code: a message may hold what was recorded.
const reply: CompileReply =
  source === null ? { kind: 'refused', code: first?.code ?? 'draft_invalid' } : { kind: 'drafted', source };
parentPort?.postMessage(reply);
