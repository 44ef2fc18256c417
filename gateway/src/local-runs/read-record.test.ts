import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRecord } from './read-record.ts';

const WEIGHT_MAX = 200_000;

function read(text: string) {
  const reading = readRecord(Buffer.from(text), WEIGHT_MAX);
  assert.ok(reading.ok);
  return reading;
}

test('the inspection stays JSON, and only the shape of the rest is kept', () => {
  const long = 'x'.repeat(5_000);
  const { outline, inspectionJson } = read(
    `{"sequence":1,"workflow_id":"${long}","inspection":{"a":[1, 2]},"other":{"b":{}},"list":[1]}`,
  );
  assert.equal(inspectionJson, '{"a":[1,2]}');
  assert.deepEqual(outline, {
    ...{ sequence: 1, workflow_id: 'x'.repeat(1_000), inspection: {}, other: {}, list: [] },
  });
});

test('an outline is small for any body', () => {
  const names = Array.from({ length: 50_000 }, (_, n) => `"n${n}":${n}`).join(',');
  assert.equal(Object.keys(read(`{${names},"inspection":{}}`).outline as object).length, 21);
  assert.deepEqual(read(`[${'1,'.repeat(50_000)}1]`), { ok: true, outline: [], inspectionJson: null });
  assert.deepEqual(read('null'), { ok: true, outline: null, inspectionJson: null });
});

test('an inspection that is not an object keeps its type', () => {
  for (const [json, kept] of [
    ['[1,2]', []],
    ['null', null],
    ['7', 7],
    ['"text"', 'text'],
  ] as const) {
    assert.deepEqual(read(`{"inspection":${json}}`).outline, { inspection: kept });
  }
});

test('invalid or too heavy JSON is a fault as in any other body', () => {
  for (const [text, code] of [
    ['{"a":', 'json'],
    [`{"a":[${'[],'.repeat(500_000)}1]}`, 'json_weight'],
    [String.raw`{"a":"\u0000"}`, 'nul'],
  ] as const) {
    const reading = readRecord(Buffer.from(text), WEIGHT_MAX);
    assert.equal(reading.ok ? '' : reading.fault.code, code);
  }
});
