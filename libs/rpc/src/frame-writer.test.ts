import { deepEqual, equal } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FrameWriter } from './frame-writer.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Writes texts as their bytes; `take` lets the transport take everything. */
function recordingWriter(bufferedBytesMax?: number) {
  const frames: string[] = [];
  const events: string[] = [];
  let waiting: (() => void)[] = [];
  const writer = new FrameWriter<string>(
    {
      encode: (items) => {
        if (items.includes('bad')) throw new Error('bad item');
        return Buffer.from(items.join(''));
      },
      write: (frame, taken) => {
        frames.push(frame.toString());
        waiting.push(taken);
      },
      unsendable: (item, { code }) => void events.push(`${item} ${code}`),
      overflow: () => void events.push('overflow'),
    },
    bufferedBytesMax,
  );
  const take = () => {
    for (const taken of waiting) taken();
    waiting = [];
  };
  return { writer, frames, events, take };
}

describe('FrameWriter', () => {
  test('writes nothing before the end of the turn and one frame then', async () => {
    const { writer, frames } = recordingWriter();
    writer.send('a');
    writer.send('b');
    deepEqual(frames, []);
    await turn();
    deepEqual(frames, ['ab']);
  });

  test('large items of a given size do not wait for the end of the turn', () => {
    const { writer, frames } = recordingWriter();
    for (let i = 0; i < 4; i++) writer.send('x', 600_000);
    deepEqual(frames, ['xx', 'xx']);
  });

  test('counts what the transport has not taken', async () => {
    const { writer, take } = recordingWriter();
    writer.send('abc');
    await turn();
    equal(writer.bufferedBytes, 3);
    take();
    equal(writer.bufferedBytes, 0);
  });

  test('gives up once at the bound and drops the rest', async () => {
    const { writer, frames, events } = recordingWriter(10);
    for (let i = 0; i < 5; i++) {
      writer.send('four');
      await turn();
    }
    deepEqual([frames, events], [['four', 'four'], ['overflow']]);
  });

  test('an item that cannot be encoded is reported, and those beside it are sent', async () => {
    const { writer, frames, events } = recordingWriter();
    for (const item of ['a', 'b', 'bad', 'c', 'd']) writer.send(item);
    await turn();
    deepEqual([frames.join(''), events], ['abcd', ['bad internal']]);
  });

  test('discarded, it writes nothing more', async () => {
    const { writer, frames } = recordingWriter();
    writer.send('a');
    writer.discard();
    writer.send('b');
    await turn();
    deepEqual(frames, []);
  });
});
