// One reader of GET /v1/events, configured by one JSON argument: prints `ready` when it follows, and one JSON line when as
// many runs have come as it waits for.
import { request } from 'undici';

export interface EventsReport {
  readonly runs: number;
  readonly bytes: number;
  /** Words that something may be missing. */
  readonly resyncs: number;
}

interface Order {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly runs: number;
}

const order = JSON.parse(process.argv[2] ?? '{}') as Order;
const { statusCode, body } = await request(`${order.baseUrl}/v1/events`, {
  headers: { authorization: `Bearer ${order.apiKey}` },
  bodyTimeout: 0,
});
if (statusCode !== 200) throw new Error(`${statusCode} ${await body.text()}`);
const seen = new Set<string>();
let bytes = 0;
let resyncs = 0;
let begun = false;
let text = '';
for await (const chunk of body) {
  bytes += chunk.length;
  text += Buffer.from(chunk).toString();
  const end = text.lastIndexOf('\n\n');
  if (end < 0) continue;
  for (const block of text.slice(0, end).split('\n\n')) {
    const [event] = block.split('\n');
    if (event === 'event: resync') resyncs++;
    const runId = event === 'event: run' ? /"run_id":"(run_\w+)"/.exec(block)?.[1] : undefined;
    if (runId !== undefined) seen.add(runId);
  }
  text = text.slice(end + 2);
  if (!begun) process.stdout.write('ready\n');
  begun = true;
  // What is missing would be asked for; here it ends the wait, and the report says so.
  if (seen.size >= order.runs || resyncs > 0) break;
}
process.stdout.write(`${JSON.stringify({ runs: seen.size, bytes, resyncs } satisfies EventsReport)}\n`);
process.exit(0);
