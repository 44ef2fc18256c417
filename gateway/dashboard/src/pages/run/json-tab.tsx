// The run as the API shows it, without its steps.
import { useMemo } from 'react';
import { pathOf } from '../../api/client.ts';
import { useApi } from '../../api/use-api.ts';
import { CopyButton } from '../../design/copy-button.tsx';
import { LongText } from './long-text.tsx';
import classes from './run.module.css';
import type { RunTabProps } from './run-page.tsx';

export function JsonTab({ run }: RunTabProps) {
  const { org } = useApi();
  const text = useMemo(() => JSON.stringify({ ...run, steps: undefined }, null, 2), [run]);
  return (
    <div className={classes.value}>
      <div className={classes.valueHead}>
        <span className={classes.quiet}>Without its steps.</span>
        <CopyButton text={text} what="the run as JSON" />
        <a href={`${pathOf(org)}/api/runs/${run.run_id}`} target="_blank" rel="noreferrer">
          All of it
        </a>
      </div>
      <LongText json={text} />
    </div>
  );
}
