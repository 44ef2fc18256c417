// The main job across two gateways and three run-schedulers.
import { oneRun } from './requests/one-run.ts';
import { commonStack } from './several-nodes.ts';

oneRun('started on one gateway, read and answered on another, with three run-schedulers', commonStack);
