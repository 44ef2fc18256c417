import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { deliveryFilter } from './delivery-filter.ts';

test('takes the filters that the API knows', () => {
  deepEqual(deliveryFilter({ status: 'exhausted', kind: 'mail', run: 'run_1' }), {
    filter: { status: 'exhausted', kind: 'mail', run: 'run_1' },
    count: 3,
  });
});

test('leaves out values that are none, and names of other pages', () => {
  deepEqual(deliveryFilter({ status: 'lost', kind: '', delivery: 'dlv_1', q: 'x' }), { filter: {}, count: 0 });
});
