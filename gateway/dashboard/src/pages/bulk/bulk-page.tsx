// A change of many runs: how far it is, by whom, and how to stop it. It continues when the page is left.
import { Button, Progress } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { got } from '../../api/client.ts';
import { useApi } from '../../api/use-api.ts';
import { ConfirmInNumbers } from '../../design/confirm-in-numbers.tsx';
import { Page } from '../../design/page.tsx';
import { Panel } from '../../design/panel.tsx';
import { usePathValue } from '../../frame/navigate.ts';
import { PageLink } from '../../frame/page-link.tsx';
import { useMay } from '../../session/viewer.tsx';
import { Time } from '../../time/time.tsx';
import { actWords, type Bulk, passedOverWords } from './bulk.ts';
import classes from './bulk-page.module.css';

const FOLLOW_MS = 1_000;
const FAILED_SHOWN = 100;

export function BulkPage() {
  const id = usePathValue('bulk');
  const { org, api } = useApi();
  const client = useQueryClient();
  const [isStopping, setStopping] = useState(false);
  const mayStop = useMay('member');
  const queryKey = [org, 'bulk', id];
  const query = useQuery({
    queryKey,
    queryFn: async ({ signal }) => (await got(api.GET('/api/bulk/{id}', { params: { path: { id } }, signal }))).bulk,
    // Its progress is no event; it ends, and so do the calls.
    refetchInterval: ({ state }) => (state.data?.state === 'running' ? FOLLOW_MS : false),
  });
  const isRunning = query.data?.state === 'running';
  return (
    <Page
      title="Change of many runs"
      heading={query.data && actWords(query.data.action, query.data.counts.total)}
      above={[{ title: 'Production', to: '/' }]}
      action={
        isRunning && mayStop ? (
          <Button variant="default" onClick={() => setStopping(true)}>
            Stop…
          </Button>
        ) : undefined
      }
    >
      <Panel query={query} what="The change">
        {(bulk) => (
          <>
            <State bulk={bulk} />
            {bulk.counts.failed > 0 && <FailedRuns id={bulk.id} count={bulk.counts.failed} />}
            <ConfirmInNumbers
              isOpen={isStopping}
              act={`Stop before ${bulk.counts.todo.toLocaleString('en')} more runs`}
              onClose={() => setStopping(false)}
              onConfirm={async () => {
                const stopped = await got(api.POST('/api/bulk/{id}/stop', { params: { path: { id: bulk.id } } }));
                client.setQueryData(queryKey, stopped.bulk);
              }}
            >
              <p>What is done stays done: {bulk.counts.done.toLocaleString('en')} runs.</p>
            </ConfirmInNumbers>
          </>
        )}
      </Panel>
    </Page>
  );
}

const STATES: Readonly<Record<Bulk['state'], string>> = {
  prepared: 'Prepared. Nothing has been changed.',
  running: 'Under way. You can leave this page.',
  done: 'Done.',
  stopped: 'Stopped. What was done stays done.',
};

function State({ bulk }: { readonly bulk: Bulk }) {
  const { total, todo, done, failed } = bulk.counts;
  const share = (count: number) => (total === 0 ? 0 : (count / total) * 100);
  return (
    <section className={classes.state}>
      <p role="status">{STATES[bulk.state]}</p>
      <Progress.Root size={8} aria-label="Progress">
        <Progress.Section value={share(done)} color="var(--succeeded)" aria-label="Done" />
        <Progress.Section value={share(failed)} color="var(--failed)" aria-label="Failed" />
      </Progress.Root>
      <dl className={classes.counts}>
        {(
          [
            ['Done', done],
            ['Failed', failed],
            ['To do', todo],
          ] as const
        ).map(([word, count]) => (
          <div key={word}>
            <dt>{word}</dt>
            <dd>{count.toLocaleString('en')}</dd>
          </div>
        ))}
        <div>
          <dt>By</dt>
          <dd>
            <bdi>{bulk.by?.name || bulk.by?.kind}</bdi>
          </dd>
        </div>
        <div>
          <dt>Started</dt>
          <dd>
            <Time at={bulk.started_at} />
          </dd>
        </div>
        <div>
          <dt>Finished</dt>
          <dd>
            <Time at={bulk.finished_at} />
          </dd>
        </div>
      </dl>
      {bulk.passed_over.map(({ reason, count }) => (
        <p key={reason} className={classes.quiet}>
          {passedOverWords(reason, count)}
        </p>
      ))}
    </section>
  );
}

function FailedRuns({ id, count }: { readonly id: string; readonly count: number }) {
  const { org, api } = useApi();
  const query = useQuery({
    queryKey: [org, 'bulk', id, 'failed', count],
    queryFn: ({ signal }) => {
      const query = { state: 'failed', limit: FAILED_SHOWN } as const;
      return got(api.GET('/api/bulk/{id}/items', { params: { path: { id }, query }, signal }));
    },
    placeholderData: (before) => before,
  });
  return (
    <section>
      <h2 className={classes.title}>Runs that could not be changed</h2>
      <Panel query={query} what="The runs" rows={3}>
        {({ items }) => (
          <ul className={classes.failed}>
            {items.map(({ run_id: run, reason }) => (
              <li key={run}>
                <PageLink to={`/runs/${run}`}>{run}</PageLink> {reason}
              </li>
            ))}
            {count > items.length && <li>and {(count - items.length).toLocaleString('en')} more</li>}
          </ul>
        )}
      </Panel>
    </section>
  );
}
