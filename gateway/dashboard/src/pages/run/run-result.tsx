// The result of a run, or why there is none here.
import classes from './run.module.css';
import { isFinished } from './run-actions.tsx';
import type { RunTabProps } from './run-page.tsx';
import { StoredValue } from './stored-value.tsx';

export function RunResult({ run }: RunTabProps) {
  if (run.result_at === 'worker') {
    return (
      <p className={classes.quiet}>
        It stays on the machine of its worker: the content of this run is kept on devices.
      </p>
    );
  }
  if (run.status === 'succeeded') return <StoredValue run={run} of="result" />;
  return <p className={classes.quiet}>{isFinished(run) ? 'The run has none.' : 'The run is not over.'}</p>;
}
