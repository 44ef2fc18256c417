import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createLogger, type LogLevel } from './logger.ts';

function logged(level?: LogLevel) {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const logger = createLogger({ name: 'gateway', destination, ...(level === undefined ? {} : { level }) });
  return { logger, lines, records: () => lines.map((line) => JSON.parse(line)) };
}

describe('a log', () => {
  test('is one JSON record a line, with level, time, process and message', () => {
    const { logger, lines, records } = logged();
    logger.info({ run_id: 'run_1', total_ms: 2 }, 'started\nhere');
    const [{ time, ...record }] = records();
    deepEqual(record, {
      level: 'info',
      name: 'gateway',
      pid: process.pid,
      run_id: 'run_1',
      total_ms: 2,
      msg: 'started\nhere',
    });
    match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    equal(lines[0]?.indexOf('\n'), (lines[0]?.length ?? 0) - 1);
  });

  test('holds what is at or above its level', () => {
    const { logger, records } = logged('warn');
    for (const level of ['debug', 'info', 'warn', 'error'] as const) logger[level]({}, level);
    deepEqual(
      records().map(({ msg }) => msg),
      ['warn', 'error'],
    );
  });

  test("of a part carries the part's fields in every record", () => {
    const { logger, records } = logged();
    logger.child({ shard: 7 }).warn({}, 'late');
    equal(records()[0].shard, 7);
  });

  test('never holds content or credentials, in fields, in the fields of a part or in errors', () => {
    const { logger, lines } = logged('debug');
    const failed = Object.assign(new Error('bad value hunter2'), { query: 'hunter2', parameters: ['hunter2'] });
    logger.info({ answer: 'hunter2', nested: { result_json: 'hunter2' } }, 'a');
    logger.child({ token: 'hunter2' }).info({}, 'b');
    logger.error({ error: failed }, 'c');
    logger.error({ err: failed }, 'd');
    logger.child({ error: failed }).error({}, 'e');
    logger.error({ cause: failed }, 'f');
    logger.error({ failures: [failed] }, 'g');
    equal(lines.length, 7);
    ok(!lines.join('').includes('hunter2'), lines.join(''));
  });

  test('holds the kind of an error and where it happened', () => {
    const { logger, records } = logged();
    logger.error({ error: new RangeError('x') }, 'failed');
    equal(records()[0].error.type, 'RangeError');
    ok(records()[0].error.at[0].includes('logger.test.ts'));
  });
});
