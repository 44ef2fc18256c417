import { deepEqual, equal, ok, throws } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { create, type DescMessage, fromBinary, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { ErrorDetailSchema } from '@methods/proto/error/v1/error_detail_pb';
import { ExchangeRequestSchema as PeerRequestSchema } from '@methods/proto/peer/v1/peer_service_pb';
import { ExchangeResponseSchema } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { HeartbeatSchema, WorkRequestSchema } from '@methods/proto/worker/v1/worker_service_pb';
import { leastCpuMs } from '@methods/test/harness/cpu-time';
import { sameBytes, sameRefusals, sameVerdicts } from './codec-differences.fixture.ts';
import { allMessages } from './message-arbitrary.fixture.ts';
import { decoder, encoder } from './message-codec.ts';
import { NESTING_MAX } from './wire-reader.ts';

const MIB = 1024 * 1024;
const SEED = 20_261_123;
const ITEM_TAG = (WorkRequestSchema.field.items.number << 3) | WireType.LengthDelimited;
/** Those of most calls, and all that they hold. */
const FRAMES = [WorkRequestSchema, ExchangeResponseSchema, PeerRequestSchema];

// `bench/message-codec-fuzz.ts` does the same for hours.
describe('the codec beside @bufbuild/protobuf', () => {
  test('every message of proto/ has the same bytes and the same values', () => {
    const messages = allMessages();
    ok(messages.length > 200);
    for (const desc of messages) sameBytes(desc, { numRuns: 3, seed: SEED });
    for (const desc of FRAMES) sameBytes(desc, { numRuns: 60, seed: SEED });
  });

  test('every mutilated message has the same verdict, and equal values where it is read', () => {
    let refused = 0;
    let all = 0;
    for (const desc of allMessages()) {
      const verdicts = sameVerdicts(desc, { numRuns: FRAMES.includes(desc as never) ? 200 : 10, seed: SEED });
      refused += verdicts.refused;
      all += verdicts.all;
    }
    ok(refused > all / 4 && refused < (all * 3) / 4, `${refused} of ${all} were refused`);
  });

  test('a value that a field cannot hold is refused, or written in the same way', () => {
    for (const desc of allMessages()) sameRefusals(desc, { numRuns: 4, seed: SEED });
  });

  test('fields that an older process kept unknown are passed on', () => {
    const newer = new BinaryWriter().tag(99, WireType.LengthDelimited).string('new').finish();
    const message = fromBinary(HeartbeatSchema, newer);
    ok(encoder(HeartbeatSchema)(message).equals(newer));
  });

  test('a message that cannot be encoded leaves nothing behind', () => {
    const encode = encoder(WorkRequestSchema);
    const good = { items: [{ item: { case: 'credits' as const, value: { count: 2 } } }] };
    const bytes = encode(good);
    throws(() => encode({ items: [{ item: { case: 'credits', value: { count: -1 } } }] }));
    deepEqual(encode(good), bytes);
  });

  test('no message costs more than it costs the library, with any content', () => {
    const hostile: Record<string, [DescMessage, Buffer]> = {
      'empty items': [WorkRequestSchema, repeated(ITEM_TAG, 0)],
      'unknown numbers': [WorkRequestSchema, repeated(0x78, 1)],
      'unknown groups': [WorkRequestSchema, repeated(0x7b, 0x7c)],
      'one group of numbers': [WorkRequestSchema, Buffer.concat([Buffer.of(0x7b), repeated(0x08, 1), Buffer.of(0x7c)])],
      'long numbers': [WorkRequestSchema, repeated(0x78, ...new Array<number>(9).fill(0xff), 1)],
      'one message in parts': [ExchangeResponseSchema, repeated(0x0a, 4, 0x12, 2, 0x0a, 0)],
      texts: [HeartbeatSchema, repeated(0x0a, 6, 0x0a, 1, 0x41, 0x12, 1, 0x42)],
      'texts of bad bytes': [HeartbeatSchema, repeated(0x0a, 4, 0x0a, 2, 0xc3, 0xa9)],
    };
    for (const [name, [desc, bytes]] of Object.entries(hostile)) {
      const decode = decoder(desc);
      const { ours, theirs } = leastInTurns(
        () => void decode(bytes),
        () => void fromBinary(desc, bytes, { readUnknownFields: false }),
      );
      ok(ours < theirs, `${name}: ${ours} us of CPU, the library ${theirs} us`);
    }
  });
});

/** The least CPU time of eight rounds each. */
function leastInTurns(our: () => void, their: () => void): { readonly ours: number; readonly theirs: number } {
  const spent = (work: () => void): number => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  let ours = Number.POSITIVE_INFINITY;
  let theirs = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 8; round++) {
    theirs = Math.min(theirs, spent(their));
    ours = Math.min(ours, spent(our));
  }
  return { ours, theirs };
}

describe('elements of a message', () => {
  test('two-byte items are refused before an object is made of any of them', () => {
    const bomb = Buffer.alloc(4 * MIB, Buffer.of(ITEM_TAG, 0));
    const decode = decoder(WorkRequestSchema, 200_000);
    throws(() => decode(bomb), RangeError);
    const heapBefore = process.memoryUsage().heapUsed;
    throws(() => decode(bomb), RangeError);
    ok(process.memoryUsage().heapUsed - heapBefore < MIB);
    const ms = leastCpuMs(50, () => throws(() => decode(bomb), RangeError));
    ok(ms < 50, `refused in ${ms} ms of CPU`);
  });

  test('unknown fields count, and none is kept', () => {
    const unknown = Buffer.alloc(4 * MIB, Buffer.of((9 << 3) | WireType.Varint, 1));
    throws(() => decoder(WorkRequestSchema, 200_000)(unknown), RangeError);
    const few = decoder(WorkRequestSchema)(unknown.subarray(0, 1_000));
    equal(few.$unknown, undefined);
  });

  test('the content of unknown groups and entries of maps counts', () => {
    const group = Buffer.concat([Buffer.of(0x7b), Buffer.alloc(4 * MIB, Buffer.of(0x08, 1)), Buffer.of(0x7c)]);
    throws(() => decoder(WorkRequestSchema, 200_000)(group), /too many fields/);
    // One entry whose key repeats.
    const keys = Buffer.alloc(4 * 100_000, Buffer.of(0x0a, 2, 0x41, 0x41));
    const entry = new BinaryWriter().tag(ErrorDetailSchema.field.facts.number, WireType.LengthDelimited).bytes(keys);
    throws(() => decoder(ErrorDetailSchema, 100_000)(entry.finish()), /too many fields/);
  });

  test('elements of nested messages count as those of the outermost', () => {
    const runs = Array.from({ length: 30_000 }, (_, i) => ({ runId: `run_${i}` as const, token: 't' }));
    const heartbeat = create(HeartbeatSchema, { runs });
    const frame = toBinary(
      WorkRequestSchema,
      create(WorkRequestSchema, { items: [{ item: { case: 'heartbeat', value: heartbeat } }] }),
    );
    equal(decoder(WorkRequestSchema, 90_002)(frame).items.length, 1);
    throws(() => decoder(WorkRequestSchema, 90_001)(frame), /too many fields/);
  });

  test('a message nested deeper than any of ours is refused', () => {
    // Groups, which no message of ours has, may be skipped to any depth by a careless reader.
    const nested = (levels: number) => {
      const deep = new BinaryWriter();
      for (let i = 0; i < levels; i++) deep.tag(9, WireType.StartGroup);
      for (let i = 0; i < levels; i++) deep.tag(9, WireType.EndGroup);
      return deep.finish();
    };
    throws(() => decoder(WorkRequestSchema)(nested(20_000)), /too deeply/);
    throws(() => decoder(WorkRequestSchema)(nested(NESTING_MAX)), /too deeply/);
    deepEqual(decoder(WorkRequestSchema)(nested(NESTING_MAX - 1)).items, []);
  });

  test('a length that points beyond the end is refused', () => {
    const lying = Buffer.concat([Buffer.alloc(64 * 1024, Buffer.of(ITEM_TAG, 0)), Buffer.of(ITEM_TAG, 255, 255, 3)]);
    throws(() => decoder(WorkRequestSchema)(lying), /ends within/);
    throws(() => decoder(WorkRequestSchema)(lying.subarray(64 * 1024)), /ends within/);
  });
});

/** 64 KiB of it. */
function repeated(...bytes: number[]): Buffer {
  const whole = Buffer.alloc(64 * 1024, Buffer.from(bytes));
  return whole.subarray(0, whole.length - (whole.length % bytes.length));
}
