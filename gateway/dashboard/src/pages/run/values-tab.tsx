// Inputs and result of a run.
import classes from './run.module.css';
import type { RunTabProps } from './run-page.tsx';
import { RunResult } from './run-result.tsx';
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
        <RunResult run={run} />
      </section>
    </div>
  );
}
