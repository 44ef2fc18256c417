import { deepEqual, equal } from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { PrintFence } from './print-fence.ts';

const MARK = '\0token\n';

describe('the prints of a runner', () => {
  let step = '';
  let printed: Record<string, string>;
  let overflows: number;
  let fence: PrintFence;
  beforeEach(() => {
    printed = {};
    overflows = 0;
    fence = new PrintFence('token', {
      onPrint: (chunk) => {
        printed[step] = (printed[step] ?? '') + chunk.toString('latin1');
      },
      onMark: () => {},
      onOverflow: () => overflows++,
    });
  });
  const open = (name: string) => {
    step = name;
    fence.open();
  };
  const push = (text: string) => fence.push(Buffer.from(text, 'latin1'));

  it('are those of the step before each mark, in chunks of any size', () => {
    for (const size of [1, 3, 7, 8, 9, 1000]) {
      printed = {};
      open('a');
      const all = `first\0 \0tok${MARK}second${MARK}${MARK}fourth`;
      for (let at = 0; at < all.length; at += size) {
        push(all.slice(at, at + size));
        while (!fence.isWaiting && step !== 'd') open({ a: 'b', b: 'c', c: 'd' }[step] ?? '');
      }
      deepEqual(printed, { a: 'first\0 \0tok', b: 'second', d: 'fourth' }, `${size} bytes a chunk`);
      push(MARK);
    }
  });

  it('of a later step wait until the present one is over', () => {
    open('a');
    push(`one${MARK}two`);
    push('three');
    deepEqual([printed, fence.isWaiting], [{ a: 'one' }, false]);
    open('b');
    deepEqual(printed, { a: 'one', b: 'twothree' });
  });

  it('belong to no step where none is under way, and up to the mark where they are skipped', () => {
    push('at the start');
    open('a');
    push(MARK);
    push('late');
    fence.idle();
    push('later');
    open('b');
    push(`b${MARK}left by b`);
    fence.skip();
    push('and more');
    open('c');
    push(`, still${MARK}c`);
    deepEqual(printed, { b: 'b', c: 'c' });
  });

  it('are kept where their mark does not come', () => {
    open('a');
    push('one\0tok');
    fence.giveUp();
    deepEqual(printed, { a: 'one\0tok' });
  });

  it('of later steps are bounded', () => {
    open('a');
    push(MARK);
    for (let i = 0; i < 8; i++) fence.push(Buffer.alloc(1024 * 1024));
    equal(overflows, 0);
    push('x');
    equal(overflows, 1);
  });
});
