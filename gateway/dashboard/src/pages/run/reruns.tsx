// The run that a run repeats, and the runs that repeat it.
import { useQuery } from '@tanstack/react-query';
import { got } from '../../api/client.ts';
import type { ListedRun } from '../../api/shapes.ts';
import { useApi } from '../../api/use-api.ts';
import { StatusBadge } from '../../design/status-badge.tsx';
import { PageLink } from '../../frame/page-link.tsx';
import classes from './run.module.css';
import { isFinished } from './run-actions.tsx';
import type { RunTabProps } from './run-page.tsx';

const SHOWN_MAX = 5;

export function Reruns({ run }: RunTabProps) {
  const { org, api } = useApi();
  const reruns = useQuery({
    queryKey: [org, 'run', run.run_id, 'reruns'],
    queryFn: ({ signal }) => {
      const query = { rerun_of: run.run_id, limit: SHOWN_MAX + 1 };
      return got(api.GET('/api/runs', { params: { query }, signal }));
    },
    // One runs again what has ended, nearly always.
    enabled: isFinished(run),
    // No event says that another run repeats this one.
    staleTime: 0,
  });
  const later = (reruns.data?.items ?? []) as ListedRun[];
  if (run.rerun_of === undefined && later.length === 0) return null;
  return (
    <p className={classes.facts}>
      {run.rerun_of !== undefined && (
        <span>
          Repeats <PageLink to={`/runs/${run.rerun_of}`}>…{run.rerun_of.slice(-8)}</PageLink>
        </span>
      )}
      {later.length > 0 && (
        <span className={classes.reruns}>
          Repeated by
          {later.slice(0, SHOWN_MAX).map(({ run_id: id, status }) => (
            <PageLink key={id} to={`/runs/${id}`}>
              <StatusBadge status={status} short /> …{id.slice(-8)}
            </PageLink>
          ))}
          {later.length > SHOWN_MAX && 'and others'}
        </span>
      )}
    </p>
  );
}
