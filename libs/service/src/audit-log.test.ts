import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Clock, systemClock } from '@methods/base/clock';
import { newId, newRunId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { createLogger } from '@methods/logging/logger';
import { until } from '@methods/test/harness/until';
import { type Act, type AuditLine, AuditLog, LINES_MAX_A_CALL } from './audit-log.ts';

const doer = { kind: 'user', id: newId('usr'), ip: '203.0.113.7', requestId: 'req-1' } as const;

function act(more: Partial<Act> = {}): Act {
  return { orgId: 'org_a', doer, action: 'run.read', targetId: newRunId(1), ...more };
}

/** A registry in front of which a gate can be shut. */
function auditLog(clock: Clock = systemClock) {
  const calls: (readonly AuditLine[])[] = [];
  const held = new Map<string, AuditLine>();
  const log: string[] = [];
  const registry = { away: false, refuses: '', gate: Promise.resolve(), open: () => {} };
  const audit = new AuditLog({
    clock,
    logger: createLogger({ name: 'test', destination: { write: (line) => void log.push(line) } }),
    async send(lines) {
      calls.push(lines);
      await registry.gate;
      if (registry.away) throw new ServiceError('unavailable');
      if (lines.some(({ targetId }) => targetId === registry.refuses)) throw new ServiceError('invalid_request');
      for (const line of lines) held.set(line.auditId, line);
    },
  });
  const shut = () => {
    registry.gate = new Promise((resolve) => {
      registry.open = resolve;
    });
  };
  return { audit, calls, held, log, registry, shut };
}

describe('the audit log', () => {
  test('a line has the actor, the act, its target, the time and the address', async () => {
    const { audit, held } = auditLog();
    await audit.afterDoing(act({ action: 'run.answer', targetId: 'run_1', facts: { question_id: 'q_1' } }));
    const [line] = held.values();
    assert.deepEqual(line, {
      auditId: line?.auditId,
      orgId: 'org_a',
      atMs: line?.atMs,
      doer,
      action: 'run.answer',
      targetKind: 'run',
      targetId: 'run_1',
      beforeJson: '',
      afterJson: '{"question_id":"q_1"}',
    });
    assert.match(line?.auditId ?? '', /^aud_/);
  });

  test('lines that arrive during a call are the next batch, in order', async () => {
    const { audit, calls, registry, shut } = auditLog();
    shut();
    audit.note(act());
    await until('the first call is under way', () => calls.length === 1);
    const ids = Array.from({ length: LINES_MAX_A_CALL + 10 }, () => newRunId(1));
    for (const targetId of ids) audit.note(act({ targetId }));
    registry.open();
    await audit.beforeShowing(act());
    assert.deepEqual(
      calls.map(({ length }) => length),
      [1, LINES_MAX_A_CALL, 11],
    );
    const told = calls.slice(1).flatMap((lines) => lines.map(({ targetId }) => targetId));
    assert.deepEqual(told.slice(0, ids.length), ids);
  });

  test('lines that are not awaited gather, and go at once with one that is awaited', async () => {
    const timers = new Set<{ readonly ms: number; readonly run: () => void }>();
    const { audit, calls } = auditLog({
      ...systemClock,
      after(ms, run) {
        const timer = { ms, run };
        timers.add(timer);
        return { cancel: () => void timers.delete(timer) };
      },
    });
    for (let turn = 0; turn < 20; turn++) {
      audit.note(act());
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(calls.length, 0);
    await audit.afterDoing(act());
    audit.note(act());
    audit.note(act());
    await until('they gather', () => timers.size > 0);
    const [running, ...others] = timers;
    assert.deepEqual([running?.ms, others], [250, []]);
    running?.run();
    await until('the last lines are held too', () => calls.length === 2);
    assert.deepEqual(
      calls.map(({ length }) => length),
      [21, 2],
    );
  });

  test('while the registry is unavailable nothing is shown, and past acts are sent again until they are stored', async () => {
    const { audit, calls, held, registry } = auditLog();
    registry.away = true;
    await assert.rejects(audit.beforeShowing(act({ targetId: 'run_read' })), { code: 'unavailable' });
    await assert.rejects(audit.afterDoing(act({ action: 'run.cancel', targetId: 'run_cancelled' })), {
      code: 'unavailable',
    });
    audit.note(act({ action: 'run.start', targetId: 'run_started' }));
    await until('it is tried again', () => calls.length >= 4);
    registry.away = false;
    await until('both are held', () => held.size === 2);
    assert.deepEqual([...held.values()].map(({ targetId }) => targetId).sort(), ['run_cancelled', 'run_started']);
    const ids = new Set(
      calls
        .flat()
        .filter(({ targetId }) => targetId === 'run_cancelled')
        .map((line) => line.auditId),
    );
    assert.equal(ids.size, 1, 'a repeat carries the same id');
  });

  test('a waiting caller does not wait for the next try once the registry is back', async () => {
    const { audit, registry } = auditLog();
    registry.away = true;
    for (let i = 0; i < 8; i++) await assert.rejects(audit.afterDoing(act()));
    registry.away = false;
    await audit.beforeShowing(act());
  });

  test('a line the registry refuses does not delay the others', async () => {
    const { audit, held, log, registry } = auditLog();
    registry.refuses = 'run_refused';
    const refused = audit.beforeShowing(act({ targetId: 'run_refused' }));
    const others = Promise.all([audit.beforeShowing(act()), audit.beforeShowing(act())]);
    await assert.rejects(refused, { code: 'invalid_request' });
    await others;
    assert.equal(held.size, 2);
    assert.equal(log.filter((line) => line.includes('was refused')).length, 1);
  });

  test('beyond ten thousand lines new ones are lost and logged as lost, and nothing more is shown', async () => {
    const { audit, held, log, registry, shut } = auditLog();
    shut();
    for (let i = 0; i < 10_005; i++) audit.note(act());
    await assert.rejects(audit.beforeShowing(act()), { code: 'unavailable' });
    registry.open();
    await until('the rest is held', () => held.size === 10_000);
    assert.equal(log.filter((line) => line.includes('cannot keep up')).length, 1);
    await until('the loss is logged', () => log.some((line) => line.includes('"lines":6')));
  });

  test('a stop sends the pending lines; an unavailable registry does not delay it', async () => {
    const quick = auditLog();
    for (let i = 0; i < 600; i++) quick.audit.note(act());
    await quick.audit.stop();
    assert.equal(quick.held.size, 600);

    const lost = auditLog();
    lost.registry.away = true;
    lost.audit.note(act());
    await lost.audit.stop();
    assert.ok(lost.log.some((line) => line.includes('are lost')));
  });
});
