import { deepEqual, equal, ok, throws } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { create, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { HeartbeatSchema, WorkRequestSchema } from '@methods/proto/worker/v1/worker_service_pb';
import { leastCpuMs } from '@methods/test/harness/cpu-time';
import { decoder } from './message-codec.ts';
import { hasElementsWithin } from './wire-elements.ts';

const MIB = 1024 * 1024;
const ITEM_TAG = WorkRequestSchema.field.items.number;

describe('elements of a message', () => {
  test('two-byte items are refused before an object is made of any of them', () => {
    const bomb = Buffer.alloc(4 * MIB, Buffer.of((ITEM_TAG << 3) | WireType.LengthDelimited, 0));
    const decode = decoder(WorkRequestSchema, 200_000);
    throws(() => decode(bomb), RangeError);
    const heapBefore = process.memoryUsage().heapUsed;
    throws(() => decode(bomb), RangeError);
    ok(process.memoryUsage().heapUsed - heapBefore < 32 * MIB);
    const ms = leastCpuMs(50, () => throws(() => decode(bomb), RangeError));
    ok(ms < 50, `refused in ${ms} ms of CPU`);
  });

  test('unknown fields count, and none is kept', () => {
    const unknown = Buffer.alloc(4 * MIB, Buffer.of((9 << 3) | WireType.Varint, 1));
    throws(() => decoder(WorkRequestSchema, 200_000)(unknown), RangeError);
    const few = decoder(WorkRequestSchema)(unknown.subarray(0, 1_000));
    equal(few.$unknown, undefined);
  });

  test('elements of nested messages count as those of the outermost', () => {
    const runs = Array.from({ length: 30_000 }, (_, i) => ({ runId: `run_${i}`, token: 't' }));
    const heartbeat = create(HeartbeatSchema, { runs });
    const frame = toBinary(
      WorkRequestSchema,
      create(WorkRequestSchema, { items: [{ item: { case: 'heartbeat', value: heartbeat } }] }),
    );
    ok(hasElementsWithin(WorkRequestSchema, frame, 90_002));
    equal(hasElementsWithin(WorkRequestSchema, frame, 90_001), false);
    equal(decoder(WorkRequestSchema, 200_000)(frame).items.length, 1);
  });

  test('what is nested beyond any message of ours is refused', () => {
    // Groups, which no message of ours has, may be skipped to any depth by a careless reader.
    const deep = new BinaryWriter();
    for (let i = 0; i < 20_000; i++) deep.tag(9, WireType.StartGroup);
    for (let i = 0; i < 20_000; i++) deep.tag(9, WireType.EndGroup);
    throws(() => decoder(WorkRequestSchema)(deep.finish()));
  });

  test('a length that points beyond the end ends the count', () => {
    const lying = Buffer.concat([
      Buffer.alloc(64 * 1024, 0),
      Buffer.of((ITEM_TAG << 3) | 2, 0xff, 0xff, 0xff, 0xff, 7),
    ]);
    deepEqual(
      [lying, lying.subarray(64 * 1024)].map((bytes) => {
        try {
          decoder(WorkRequestSchema)(bytes);
          return 'read';
        } catch {
          return 'refused';
        }
      }),
      ['refused', 'refused'],
    );
  });
});
