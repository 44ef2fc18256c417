// The words and the help of `methods runs`, apart from its work: to show them nothing of that is loaded.

import { SERVER_OPTIONS } from '../chosen-server/server-options.ts';
import type { CommandHelp } from '../command/command-words.ts';
import { PAGE_OPTIONS } from '../server/page.ts';

export const STATUSES = ['queued', 'running', 'waiting', 'succeeded', 'failed', 'cancelled'];

const ACTIONS = ['list', 'show', 'watch', 'cancel', 'rerun'];

export const RUNS_WORDS: CommandHelp = {
  name: 'runs',
  usage:
    'list [--status S] [--method METHOD] [--kind K] | show ID | watch ID | cancel ID | rerun ID [--from-step STEP] [--wait]',
  summary: 'List, show, watch, cancel and repeat runs on the server',
  details: [
    'watch ends when the run has finished or waits for an answer (exit code 4). rerun starts a new run with the same',
    'version and inputs; with --from-step it keeps the results of the steps before that one. A run that has failed and whose',
    'on_failure or finally has yet to run is "to clean up" until a worker takes it, then "cleaning up".',
  ],
  options: {
    status: { value: 'STATUS', help: `list: only ${STATUSES.slice(0, -1).join(', ')} or cancelled ones` },
    method: { value: 'METHOD', help: 'list: only runs of this method: an id, a saved file or a display name' },
    kind: { value: 'KIND', help: "list: production (default), or local for records of runs on people's computers" },
    ...PAGE_OPTIONS,
    'from-step': { value: 'STEP', help: 'rerun: begin at this step, which is not inside another one' },
    wait: { help: 'rerun: watch the new run' },
    ...SERVER_OPTIONS,
  },
  operands: { min: 1, max: 2, word: 'list, show, watch, cancel or rerun', choices: ACTIONS },
  examples: ['methods runs list --status failed', 'methods runs watch run_01kf3p7c5m8x2q9t4v6w0y1z2a'],
};
