import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { JsonObject } from '@methods/method/json';
import type { RunObserver } from '../journal-events.ts';
import { RunHarness } from '../run-harness.fixture.ts';
import { methodOf } from './attempts.fixture.ts';

let harness: RunHarness;
before(async () => {
  harness = await RunHarness.start();
});
after(() => harness.stop());

const TOKEN = 'oauth-abcdef-123456';
const LOGIN = `types: { Key: { token: secret } }
steps:
  - name: login
    node: |
      console.log('got ${TOKEN}')
      step.check('Got ${TOKEN}', true)
      return { keys: [{ token: '${TOKEN}' }], user: 'ann' }
    out: { keys: list<Key>, user: string }
`;

/** All outputs of a run. */
class Told implements RunObserver {
  readonly said: unknown[] = [];
  readonly given = new Map<string, JsonObject>();
  stepGiven(path: string, values: JsonObject): void {
    this.given.set(path, values);
    this.said.push(values);
  }
  stepEnded(...record: unknown[]): void {
    this.said.push(record);
  }
  logged(...text: unknown[]): void {
    this.said.push(text);
  }
  told(...event: unknown[]): void {
    this.said.push(event);
  }
  checked(...check: unknown[]): void {
    this.said.push(check);
  }
}

describe('a secret in the out of a step', () => {
  it('is masked in all outputs of this step and later ones, and they still get it', async () => {
    const method = methodOf(`${LOGIN}  - name: use
    in: [steps.login.keys]
    node: |
      const { token } = keys[0]
      console.log(token, btoa(token))
      console.error('err', token)
      step.log('said ' + token, { token })
      step.progress(0.5, token)
      step.check('with ' + token, true, { actual: token, level: 'warn' })
      return { length: token.length }
    out: { length: integer }
result: { length: =steps.use.length }
`);
    const told = new Told();
    const outcome = await harness.run(method, { observer: told });
    assert.deepEqual(outcome.status === 'succeeded' && outcome.result, { length: TOKEN.length });
    const said = JSON.stringify([told.said, harness.records, outcome]);
    assert.ok(!said.includes(TOKEN) && !said.includes(btoa(TOKEN)), said);
    assert.match(harness.records[0]?.log?.text ?? '', /^got \*\*\*login\.keys\.0\.token\*\*\*\n$/);
    assert.deepEqual(told.given.get('use'), { keys: [{ token: '***login.keys.0.token***' }] });
  });

  it('fails a step that returns it in a field of another type', async () => {
    const method = methodOf(`${LOGIN}  - name: leak
    in: [steps.login.keys]
    node: |
      return { text: 'Bearer ' + keys[0].token }
    out: { text: string }
`);
    const outcome = await harness.run(method);
    assert.ok(outcome.status === 'failed', outcome.status);
    assert.deepEqual(
      [outcome.error.kind, outcome.error.message],
      ['secret', 'out contains the secret login.keys.0.token'],
    );
  });
});
