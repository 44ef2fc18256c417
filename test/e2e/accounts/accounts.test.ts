// People, keys and methods by the public interface of one running stack with two gateways.
import assert from 'node:assert/strict';
import { before, describe } from 'node:test';
import { commonStack } from '../two-gateways.ts';
import { type AccountWorld, accountWorld } from './account-world.ts';
import { badInput } from './bad-input.ts';
import { documentedCommands } from './documented.ts';
import { endpoints } from './endpoints.ts';
import { inbox } from './inbox.ts';
import { localRuns } from './local-runs.ts';
import { methodLife } from './method-life.ts';
import { offered } from './offered.ts';
import { organizationSettled } from './organization.ts';
import { recordings } from './recordings.ts';
import { referencePage } from './reference-page.ts';
import { savedAtOnce } from './saved-at-once.ts';
import { signingIn } from './signing-in.ts';

describe('accounts', () => {
  let running: AccountWorld | undefined;
  const world = () => {
    assert.ok(running, 'the stack did not start');
    return running;
  };
  before(async () => {
    running = await accountWorld(await commonStack());
  });

  signingIn(world);
  methodLife(world);
  offered(world);
  organizationSettled(world);
  savedAtOnce(world);
  localRuns(world);
  recordings(world);
  endpoints(world);
  inbox(world);
  referencePage(world);
  documentedCommands(world);
  // After everything that is built.
  badInput(world);
});
