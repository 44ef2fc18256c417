// The main job on a single node of each service.
import { commonStack } from './common-stack.ts';
import { oneRun } from './requests/one-run.ts';

oneRun('on one node of each service', commonStack);
