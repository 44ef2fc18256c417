import { deepEqual, equal, ok, throws } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { Type } from 'typebox';
import { ConfigError, readEnvironment, Secret, SecretText } from './environment.ts';

const schema = Type.Object({
  PORT: Type.Integer({ minimum: 0, maximum: 65535, default: 8080 }),
  DATABASE_URL: SecretText({ minLength: 8 }),
  LEASE_MS: Type.Integer({ minimum: 1000, default: 60000 }),
  ALLOW_PRIVATE: Type.Boolean({ default: false }),
  MODE: Type.Optional(Type.Enum(['fast', 'safe'])),
});

describe('readEnvironment', () => {
  test('coerces text, fills in defaults and ignores foreign variables', () => {
    const config = readEnvironment(schema, {
      PORT: '9000',
      DATABASE_URL: 'postgres://x',
      ALLOW_PRIVATE: '1',
      HOME: '/',
    });
    equal(config.PORT, 9000);
    equal(config.LEASE_MS, 60000);
    equal(config.ALLOW_PRIVATE, true);
    equal(config.MODE, undefined);
    deepEqual(Object.keys(config).sort(), ['ALLOW_PRIVATE', 'DATABASE_URL', 'LEASE_MS', 'PORT']);
  });

  test('the result is frozen', () => {
    const config = readEnvironment(schema, { DATABASE_URL: 'postgres://x' });
    throws(() => Object.assign(config, { PORT: 1 }), TypeError);
  });

  test('all faults come in one error, one line each', () => {
    throws(
      () => readEnvironment(schema, { PORT: '99999', LEASE_MS: 'soon', ALLOW_PRIVATE: 'yes', MODE: 'slow' }),
      (error: unknown) => {
        ok(error instanceof ConfigError);
        deepEqual(
          error.faults.map((fault) => fault.split(':')[0]),
          ['ALLOW_PRIVATE', 'DATABASE_URL', 'LEASE_MS', 'MODE', 'PORT'],
        );
        equal(error.message.split('\n').length, 6);
        ok(error.message.includes('MODE: must be equal to one of the allowed values (fast, safe)'));
        return true;
      },
    );
  });

  test('a text that is not an integer is refused', () => {
    for (const PORT of ['80.5', '8o', ' ', '0x', 'Infinity'])
      throws(() => readEnvironment(schema, { PORT, DATABASE_URL: 'postgres://x' }), /PORT: must be integer$/);
  });

  test('an empty variable counts as absent', () => {
    equal(readEnvironment(schema, { PORT: '', DATABASE_URL: 'postgres://x' }).PORT, 8080);
    throws(() => readEnvironment(schema, { DATABASE_URL: '' }), /DATABASE_URL: is not set/);
  });

  test('a fault never shows the value', () => {
    throws(
      () => readEnvironment(schema, { DATABASE_URL: 'hunter2', PORT: 'hunter2' }),
      (error: unknown) => error instanceof ConfigError && !error.message.includes('hunter2'),
    );
  });

  test('reading twice with one schema returns the same', () => {
    const source = { DATABASE_URL: 'postgres://x', PORT: '1' };
    equal(readEnvironment(schema, source).PORT, readEnvironment(schema, source).PORT);
  });
});

describe('Secret', () => {
  test('prints as stars in every form and reveals only when asked', () => {
    const { DATABASE_URL } = readEnvironment(schema, { DATABASE_URL: 'postgres://hunter2' });
    for (const text of [
      `${DATABASE_URL}`,
      JSON.stringify({ DATABASE_URL }),
      inspect({ DATABASE_URL }, { showHidden: true }),
    ]) {
      ok(text.includes('***'), text);
      ok(!text.includes('hunter2'), text);
    }
    ok(DATABASE_URL instanceof Secret);
    equal(DATABASE_URL.reveal(), 'postgres://hunter2');
  });
});
