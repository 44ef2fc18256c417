import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readOptions, UsageError } from './options.ts';

const read = (...args: string[]) => readOptions(args, '/srv/app');

describe('the options of npm start', () => {
  test('are all optional', () => {
    assert.deepEqual(read(), {
      once: false,
      demo: true,
      methods: null,
      port: null,
      dataDir: '/srv/app/.data',
      schedulers: 1,
      gateways: 1,
      workers: 1,
      concurrency: 16,
      json: false,
      mail: true,
      reset: false,
      help: false,
    });
  });

  test('take folders relative to the current folder', () => {
    assert.equal(read('--data-dir', 'there').dataDir, '/srv/app/there');
    assert.equal(read('--data-dir=/var/stack').dataDir, '/var/stack');
    assert.equal(read('--methods', '../methods').methods, '/srv/methods');
  });

  test('omit the demonstration if no one reads it or its methods are missing', () => {
    assert.equal(read('--no-demo').demo, false);
    assert.equal(read('--json').demo, false);
    assert.equal(read('--methods', '.').demo, false);
    assert.equal(read('--once').once, true);
  });

  test('omit the mailbox if a program starts the stack, unless it asks for it', () => {
    assert.equal(read('--json').mail, false);
    assert.equal(read('--json', '--mail').mail, true);
  });

  test('take whole numbers within bounds', () => {
    const { port, schedulers, gateways, workers, concurrency } = read(
      ...['--port', '0', '--schedulers', '9', '--gateways', '2', '--workers', '0', '--concurrency', '1000'],
    );
    assert.deepEqual([port, schedulers, gateways, workers, concurrency], [0, 9, 2, 0, 1000]);
    for (const wrong of ['', '-1', '1.5', '0x10', ' 1', '10', 'two', '1e1']) {
      assert.throws(
        () => read(`--schedulers=${wrong}`),
        (error) => error instanceof UsageError && error.message === '--schedulers takes a whole number from 1 to 9.',
        wrong,
      );
    }
    assert.throws(() => read('--port', '65536'), UsageError);
  });

  test('are refused in one sentence when they are unknown, lack a value or have no option', () => {
    const sentence = (...args: string[]) => {
      try {
        read(...args);
      } catch (error) {
        assert.ok(error instanceof UsageError);
        return error.message;
      }
      throw new Error('nothing was refused');
    };
    assert.match(sentence('--gateway', '2'), /^Unknown option '--gateway'/);
    assert.match(sentence('--port'), /--port/);
    assert.match(sentence('serve'), /'serve'/);
    assert.match(sentence('--once=yes'), /--once/);
    for (const args of [['--gateway'], ['--port'], ['serve']]) assert.doesNotMatch(sentence(...args), /\n/);
  });
});
