// What 1,000 open pages cost a gateway in private memory: readers of GET /api/events in one organization, ten people with
// a hundred streams each, measured before, while nothing happens, and after runs whose events all of them got.
import type { BenchStack } from './bench-stack.ts';
import { EventReader, readerToken } from './event-reader.ts';
import { gatewayBytes, mebibytes } from './gateway-memory.ts';
import { measure } from './measure.ts';
import type { WorkloadResult } from './report.ts';

const PEOPLE = 10;
const STREAMS_OF_EACH = 100;
const RUNS = 500;

export async function measureEventReaders(stack: BenchStack, method: string, scale: number): Promise<WorkloadResult> {
  const streams = Math.ceil(STREAMS_OF_EACH * scale);
  const runs = Math.ceil(RUNS * scale);
  const order = { method, pattern: 'post-wait' as const, concurrency: 16, runs };
  const readers: EventReader[] = [];
  try {
    // Compiled code, pools and the events kept of an organization are not the readers' memory: they are filled first.
    const tokens = await Promise.all(Array.from({ length: PEOPLE }, (_, n) => readerToken(stack, n)));
    for (const token of tokens) readers.push(await EventReader.open(stack.baseUrl, token));
    await measure(stack, 'warm-up', order);
    const before = await gatewayBytes(stack);
    for (const token of tokens) {
      const opened = Array.from({ length: streams - 1 }, () => EventReader.open(stack.baseUrl, token));
      readers.push(...(await Promise.all(opened)));
    }
    const open = await gatewayBytes(stack);
    const seen = readers.map(({ events }) => events);
    const starts = await measure(stack, 'starts, followed', order);
    const followed = await gatewayBytes(stack);
    const got = readers.map(({ events }, at) => events - (seen[at] ?? 0));
    const more = readers.length - PEOPLE;
    const mib = (bytes: number) => mebibytes(bytes - before);
    return {
      measurements: [starts],
      notes: [
        `${more} readers more: ${mib(open)} of private memory more in the gateway while nothing happens`,
        `after ${runs} runs: ${mib(followed)}; each got ${Math.min(...got)} to ${Math.max(...got)} events`,
      ],
    };
  } finally {
    for (const reader of readers) reader.leave();
  }
}
