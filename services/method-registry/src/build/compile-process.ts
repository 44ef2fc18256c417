// The body of the process that compiles one recording. What a recording can do to it ends with the process. On standard
// input: the name as one line of JSON, then the recording; on standard output: the reply.
import { buffer } from 'node:stream/consumers';
import { compileRecording } from '@methods/method/recording/compile-recording';
import type { CompileReply } from './recording-compiler.ts';

const LINE_FEED = 10;

const input = await buffer(process.stdin);
const lineEnd = input.indexOf(LINE_FEED);
const name: string = JSON.parse(input.toString('utf8', 0, lineEnd));
const json = new TextDecoder().decode(input.subarray(lineEnd + 1));
const { source, findings } = compileRecording(json, name === '' ? {} : { name });
const [first] = findings;
// Told by code: a message may hold what was recorded.
const reply: CompileReply =
  source === null ? { kind: 'refused', code: first?.code ?? 'draft_invalid' } : { kind: 'drafted', source };
process.stdout.end(JSON.stringify(reply));
