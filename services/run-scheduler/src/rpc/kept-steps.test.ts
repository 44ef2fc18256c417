import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { systemClock } from '@methods/base/clock';
import { KeptStepsSchema } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { TestActors } from '../actor/test-actors.fixture.ts';
import { answer, ask, claim, person, recordStep, succeed } from '../run/run.fixture.ts';
import type { RunCommand } from '../run/run-command.ts';
import { newFacts, TestStore } from '../store/run-store.fixture.ts';
import { keptBeginning } from './kept-steps.ts';
import { RestedTurns } from './rested-turns.ts';

let db: TestStore;
before(async () => {
  db = await TestStore.open();
});
after(() => db.close());

const POLICY = { to: [], notStarter: true, needs: null, remindMs: [], escalate: null, timeoutAnswerJson: null };

test('a rerun keeps no question with rules about people, nor the step that contains it; the steps beside it are kept', async () => {
  const node = await TestActors.on(db);
  const { facts, ...first } = await node.running();
  let [token, seq]: [string, number] = [first.token, 0];
  const tell = async (command: RunCommand) => {
    const outcome = await node.actors.tell(facts.orgId, facts.runId, command);
    assert.equal(outcome.kind, 'accepted', command.type);
  };
  const record = (path: string, kind = 'node') => {
    const command = recordStep(token, ++seq, path) as RunCommand & { type: 'record_step' };
    return tell({ ...command, step: { ...command.step, kind } });
  };
  for (const [i, step] of ['plain', 'group[0]/approve', 'sub/approve'].entries()) {
    const asking = ask(token, ++seq, `q_${i}`) as RunCommand & { type: 'ask' };
    await tell({ ...asking, step, ...(i > 0 && { policy: POLICY }) });
    await tell({ ...answer(`q_${i}`, 'd'), by: person('ann'), channel: 'inbox' });
    [token, seq] = [`t${i}`, 0];
    await tell(claim(token));
    await record(step, 'ask');
  }
  for (const path of ['group[0]/pay', 'group[0]', 'group', 'sub/pay']) await record(path);
  await record('sub', 'call');
  await tell(succeed(token, ++seq));

  const folders = { copy: () => assert.fail(), remove: () => assert.fail() };
  const parts = { actors: node.actors, store: db.store, folders, turns: new RestedTurns('reruns', systemClock) };
  const kept = create(KeptStepsSchema, { runId: facts.runId, steps: ['plain', 'group', 'sub'] });
  const { steps } = await keptBeginning(
    parts,
    { ...newFacts(0), versionId: facts.versionId, orgId: facts.orgId },
    kept,
  );
  assert.deepEqual(
    steps.map(({ summary }) => summary.path),
    ['plain', 'group[0]/pay'],
  );
});
