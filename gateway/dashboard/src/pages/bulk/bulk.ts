// A change of many runs, as its route gives it, and in words. Pure.
import type { operations } from '../../api/gen/openapi.ts';
import type { Reply } from '../../api/shapes.ts';

type Prepare = operations['prepareBulk']['requestBody']['content']['application/json'];

export type BulkAction = Prepare['action'];
export type BulkFilter = NonNullable<Prepare['filter']>;
export type Bulk = Reply<'getBulk'>['bulk'];

const ACTS: Readonly<Record<BulkAction, (runs: string) => string>> = {
  cancel: (runs) => `Cancel ${runs}`,
  rerun: (runs) => `Rerun ${runs}`,
  rerun_failed_step: (runs) => `Rerun ${runs} from the failed step`,
};

/** Cancel 1,204 runs. */
export function actWords(action: BulkAction, count: number): string {
  return ACTS[action](runsInWords(count));
}

function runsInWords(count: number): string {
  return count === 1 ? '1 run' : `${count.toLocaleString('en')} runs`;
}

const REASONS: Readonly<Record<string, string>> = {
  finished: 'have finished already',
  not_finished: 'have not finished',
  not_failed: 'have not failed',
  on_device: 'are in device mode: a program with their key runs them again',
  webhook: 'have a webhook, which needs a service key',
  not_found: 'do not exist',
};

/** 37 runs are passed over: they have finished already. */
export function passedOverWords(reason: string, count: number): string {
  const [are, they] = count === 1 ? ['is', 'it'] : ['are', 'they'];
  const why = REASONS[reason] ?? reason;
  const one =
    count === 1
      ? why
          .replace(/^have /, 'has ')
          .replace(/^are /, 'is ')
          .replace(/^do /, 'does ')
      : why;
  return `${runsInWords(count)} ${are} passed over: ${they} ${one}.`;
}
