import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { ExchangeResponseSchema, type NodeItem } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { FrameReader, type FrameReaderOptions } from './frame-reader.ts';
import { decoderInParts, encoder, PART_BYTES } from './message-codec.ts';

const STEPS = 30_000;

function frameOf(callId: number, steps: number): Buffer {
  const step = { kind: 'node', status: 4, attempt: 1, startedAtMs: 1_763_000_000_000.5, runningMs: 2 };
  const run = { steps: Array.from({ length: steps }, (_, i) => ({ ...step, path: `each[${i}].add` })) };
  return encoder(ExchangeResponseSchema)({ items: [{ callId, item: { case: 'run', value: { run } } }] });
}

function startReader(options?: FrameReaderOptions) {
  const happened: string[] = [];
  const frames: NodeItem[][] = [];
  const reader = new FrameReader(
    ExchangeResponseSchema,
    {
      pause: () => void happened.push('pause'),
      resume: () => void happened.push('resume'),
      received: (items) => {
        frames.push(items);
        happened.push(`frame ${items.map(({ callId }) => callId)}`);
        return items.length > 0;
      },
      malformed: () => void happened.push('malformed'),
    },
    options,
  );
  return { reader, happened, frames };
}

async function turnsUntil(isTrue: () => boolean): Promise<number> {
  let turns = 0;
  for (; !isTrue() && turns < 10_000; turns++) await turn();
  return turns;
}

describe('frames that are read', () => {
  test('a short frame is decoded at once', () => {
    const { reader, happened } = startReader();
    reader.read(frameOf(1, 10));
    reader.read(frameOf(2, 10));
    deepEqual(happened, ['frame 1', 'frame 2']);
  });

  test('a view of 30,000 steps takes a turn for each 64 KiB, and the stream waits', async () => {
    const { reader, happened, frames } = startReader();
    const frame = frameOf(1, STEPS);
    reader.read(frame);
    const turns = await turnsUntil(() => frames.length > 0);
    ok(turns >= Math.floor(frame.length / PART_BYTES) - 1, `${turns} turns for ${frame.length} bytes`);
    const run = frames[0]?.[0]?.item;
    equal(run?.case === 'run' && run.value.run?.steps.length, STEPS);
    await turnsUntil(() => happened.at(-1) === 'resume');
    deepEqual([...new Set(happened)], ['pause', 'frame 1', 'resume']);
  });

  test('no part of it costs more than a fifth of the whole', () => {
    const decode = decoderInParts(ExchangeResponseSchema);
    const frame = frameOf(1, STEPS);
    const least: number[] = [];
    for (let round = 0; round < 6; round++) {
      const parts = decode(frame);
      for (let part = 0, done = false; !done; part++) {
        const before = process.cpuUsage();
        done = parts.next().done === true;
        const { user, system } = process.cpuUsage(before);
        least[part] = Math.min(least[part] ?? Number.POSITIVE_INFINITY, user + system);
      }
    }
    const whole = least.reduce((sum, us) => sum + us);
    ok(Math.max(...least) < whole / 5, `${least.map(Math.round)} us of CPU`);
  });

  test('a peer that is no process of ours gets one frame decoded a turn', async () => {
    const { reader, happened } = startReader({ oneATurn: true });
    reader.read(frameOf(1, 10));
    deepEqual(happened, ['frame 1', 'pause']);
    await turnsUntil(() => happened.at(-1) === 'resume');
    equal(happened.at(-1), 'resume');
  });

  test('nothing is read after a frame that cannot be read, also one that fails at its end', async () => {
    for (const frame of [frameOf(1, 10), frameOf(1, STEPS)]) {
      const { reader, happened } = startReader();
      reader.read(frame.subarray(0, frame.length - 1));
      await turnsUntil(() => happened.includes('malformed'));
      await turn();
      reader.read(frameOf(2, 10));
      deepEqual([happened.filter((what) => what.startsWith('frame')), happened.includes('malformed')], [[], true]);
    }
  });

  test('a frame of a stranger with too many fields is refused before any of it is decoded', () => {
    const { reader, happened } = startReader({ elementsMax: 1_000 });
    reader.read(frameOf(1, STEPS));
    deepEqual(happened, ['malformed']);
  });
});
