// A change of many runs, as its route gives it, and in words. Pure.

export type BulkAction = 'cancel' | 'rerun' | 'rerun_failed_step';

export interface Bulk {
  readonly id: string;
  readonly action: BulkAction;
  readonly state: 'prepared' | 'running' | 'done' | 'stopped';
  readonly by: { readonly name?: string; readonly kind: string };
  readonly created_at: string | null;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly counts: { readonly total: number; readonly todo: number; readonly done: number; readonly failed: number };
  readonly passed_over: readonly { readonly reason: string; readonly count: number }[];
  readonly more: boolean;
}

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
