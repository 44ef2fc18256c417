// Compares the codec of this package with @bufbuild/protobuf, its reference: the same bytes, the same verdict on
// mutilated ones, and equal values.
import { deepStrictEqual, equal, ok } from 'node:assert/strict';
import { create, type DescMessage, fromBinary, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { initsOf, MUTILATIONS, mutilated } from './message-arbitrary.fixture.ts';
import { decoder, decoderInParts, encoder } from './message-codec.ts';
import { NESTING_MAX } from './wire-reader.ts';

interface Extent {
  readonly numRuns: number;
  readonly seed?: number;
}

/** Parts so short that nearly every message has several. */
const FEW_BYTES = 16;
const REFUSED = Symbol('refused');
const READING = { readUnknownFields: false, recursionLimit: NESTING_MAX };

/** Messages and plain objects alike; what is decoded is encoded again. */
export function sameBytes(desc: DescMessage, extent: Extent): void {
  const encode = encoder(desc);
  const decode = decoder(desc);
  const readInParts = wholeOf(decoderInParts(desc, undefined, FEW_BYTES));
  fc.assert(
    fc.property(initsOf(desc), (init) => {
      const message = create(desc, init);
      const bytes = Buffer.from(toBinary(desc, message));
      ok(encode(init as never).equals(bytes), 'a plain object has other bytes');
      ok(encode(message).equals(bytes), 'a message has other bytes');
      const read = decode(bytes);
      sameValues(read, fromBinary(desc, bytes, READING));
      sameValues(readInParts(bytes), read);
      ok(encode(read).equals(toBinary(desc, read)), 'what was read has other bytes');
    }),
    extent,
  );
}

/** Values that a field cannot hold are refused, or written as the library writes them. */
export function sameRefusals(desc: DescMessage, extent: Extent): void {
  const encode = encoder(desc);
  fc.assert(
    fc.property(initsOf(desc, true), (init) => {
      const theirs = attempt(() => Buffer.from(toBinary(desc, create(desc, init))));
      const ours = attempt(() => encode(init as never));
      equal(ours === REFUSED, theirs === REFUSED, `ours: ${String(ours)}, the library's: ${String(theirs)}`);
      if (theirs !== REFUSED) deepStrictEqual(ours, theirs);
    }),
    extent,
  );
}

/** How many of the mutilated messages were refused, of all. */
export function sameVerdicts(desc: DescMessage, extent: Extent): { readonly refused: number; readonly all: number } {
  const encode = encoder(desc);
  const decode = decoder(desc);
  const readInParts = wholeOf(decoderInParts(desc, undefined, FEW_BYTES));
  let refused = 0;
  let all = 0;
  fc.assert(
    fc.property(initsOf(desc), MUTILATIONS, (init, mutilations) => {
      const bytes = mutilated(encode(init as never), mutilations);
      const theirs = attempt(() => fromBinary(desc, bytes, READING));
      const ours = attempt(() => decode(bytes));
      all++;
      if (theirs === REFUSED) refused++;
      equal(ours === REFUSED, theirs === REFUSED, `only ${ours === REFUSED ? 'we refuse' : 'the library refuses'} it`);
      // The library sets optional properties in the order of the bytes, which a mutation may change.
      if (theirs !== REFUSED) deepStrictEqual(ours, theirs);
      deepStrictEqual(
        attempt(() => readInParts(bytes)),
        ours,
      );
    }),
    extent,
  );
  return { refused, all };
}

function wholeOf<T>(decode: (bytes: Buffer) => Generator<void, T>): (bytes: Buffer) => T {
  return (bytes) => {
    const parts = decode(bytes);
    for (;;) {
      const part = parts.next();
      if (part.done) return part.value;
    }
  };
}

/** Also the order of properties and that bytes are views. */
function sameValues(ours: unknown, theirs: unknown): void {
  deepStrictEqual(ours, theirs);
  equal(JSON.stringify(ours), JSON.stringify(theirs));
}

function attempt<T>(work: () => T): T | typeof REFUSED {
  try {
    return work();
  } catch {
    return REFUSED;
  }
}
