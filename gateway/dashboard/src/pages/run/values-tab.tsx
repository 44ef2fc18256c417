// Inputs and result of a run.
import classes from './run.module.css';
import { isFinished } from './run-actions.tsx';
import type { RunTabProps } from './run-page.tsx';
import { StoredValue } from './stored-value.tsx';

export function ValuesTab({ run }: RunTabProps) {
  return (
    <div className={classes.values}>
      <section>
        <h2>Inputs</h2>
        <StoredValue run={run} of="inputs" />
      </section>
      <section>
        <h2>Result</h2>
        {run.result_at === 'worker' ? (
          <p className={classes.quiet}>
            It stays on the machine of its worker: the content of this run is kept on devices.
          </p>
        ) : run.status === 'succeeded' ? (
          <StoredValue run={run} of="result" />
        ) : (
          <p className={classes.quiet}>{isFinished(run) ? 'The run has none.' : 'The run is not over.'}</p>
        )}
      </section>
    </div>
  );
}
