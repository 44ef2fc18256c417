import { equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { leastCpuMs } from '@methods/test/harness/cpu-time';
import { peopleWhoMay } from './needed-people.ts';

test('the people of a page of questions are counted within a moment', () => {
  const email = (n: number) => `person-${String(n).padStart(6, '0')}@acme.example`;
  const members = Array.from({ length: 1_000 }, (_, n) => ({ role: 'viewer' as const, email: email(n) }));
  const to = Array.from({ length: 100 }, (_, n) => email(900 + n * 2));
  const escalateTo = Array.from({ length: 100 }, (_, n) => email(500_000 + n));
  equal(peopleWhoMay(to, escalateTo, members), 50);
  const spentMs = leastCpuMs(40, () => {
    for (let question = 0; question < 200; question++) peopleWhoMay(to, escalateTo, members);
  });
  ok(spentMs < 100, `${spentMs} ms`);
});
