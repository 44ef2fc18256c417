// The body of the process that compiles one recording and checks its draft. Any damage that a recording does ends with
// the process. Standard input has the request as one line of JSON, then the recording; standard output gets the reply.
import { buffer } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';
import { compileRecording } from '@methods/method/recording/compile-recording';
import { isSourceTooLarge, judgeSource } from '../method/method-source.ts';
import type { CompileHead, CompileReply } from './recording-compiler.ts';

const LINE_FEED = 10;

const input = await buffer(process.stdin);
const lineEnd = input.indexOf(LINE_FEED);
const { name, sizeBytes, timeMaxMs }: CompileHead = JSON.parse(input.toString('utf8', 0, lineEnd));
const recording = input.subarray(lineEnd + 1);
// The registry that began the process was killed in the middle.
if (recording.length !== sizeBytes) process.exit(1);
// The registry ends a process that takes too long; this thread does so if the registry has died.
const deadline = `setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${timeMaxMs})`;
new Worker(deadline, { eval: true, env: {}, execArgv: [] }).unref();
process.stdout.end(JSON.stringify(draftOf(new TextDecoder().decode(recording))));

function draftOf(json: string): CompileReply {
  const { source, findings } = compileRecording(json, name === '' ? {} : { name });
  // Only the code: a message may contain recorded content.
  if (source === null) return { kind: 'refused', code: findings[0]?.code ?? 'draft_invalid' };
  const bytes = Buffer.from(source);
  if (isSourceTooLarge(bytes)) return { kind: 'draft_too_large' };
  // A draft calls no other method and asks no one.
  const { facts, findings: warnings } = judgeSource(bytes);
  if (facts === null) return { kind: 'refused', code: 'draft_invalid' };
  return { kind: 'drafted', source, verdict: { facts, findings: warnings, needed: [] } };
}
