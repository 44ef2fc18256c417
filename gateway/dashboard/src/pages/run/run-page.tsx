// Run: what happened in one run, and why.
import { Suspense } from 'react';
import { isFailure } from '../../api/failure.ts';
import { useMethodName } from '../../api/method-names.ts';
import { Empty } from '../../design/empty.tsx';
import { HostileText } from '../../design/hostile-text.tsx';
import { Page } from '../../design/page.tsx';
import { Panel } from '../../design/panel.tsx';
import { Skeleton } from '../../design/skeleton.tsx';
import { usePathValue, useSearchState } from '../../frame/navigate.ts';
import { PageLink } from '../../frame/page-link.tsx';
import { part } from '../../frame/part.ts';
import { JsonTab } from './json-tab.tsx';
import classes from './run.module.css';
import { RunActions } from './run-actions.tsx';
import { RunDeliveries } from './run-deliveries.tsx';
import { RunHead } from './run-head.tsx';
import { useRun, type WholeRun } from './run-reads.ts';
import { TimelineTab } from './timeline-tab.tsx';
import { ValuesTab } from './values-tab.tsx';

// The editor that shows the source is most of this page's script.
const SourceTab = part(async () => (await import('./source-tab.tsx')).SourceTab);

export interface RunTabProps {
  readonly run: WholeRun;
}

const TABS = [
  { id: '', title: 'Timeline', Content: TimelineTab },
  { id: 'source', title: 'Source', Content: SourceTab },
  { id: 'values', title: 'Inputs and result', Content: ValuesTab },
  { id: 'deliveries', title: 'Deliveries', Content: RunDeliveries },
  { id: 'json', title: 'JSON', Content: JsonTab },
] as const;
const PRODUCTION = { title: 'Production', to: '/' };

export function RunPage() {
  const runId = usePathValue('run');
  const run = useRun(runId);
  const nameOf = useMethodName();
  const short = `run …${runId.slice(-8)}`;
  if (isFailure(run.error, 'not_found')) {
    return (
      <Page title="Run" above={[PRODUCTION]}>
        <Empty title="There is no such run in this organization.">It may have been deleted after its retention.</Empty>
      </Page>
    );
  }
  const { data } = run;
  const above = [PRODUCTION];
  if (data !== undefined) {
    above.push({ title: <HostileText text={nameOf(data.method)} max={80} />, to: `/methods/${bare(data)}` } as never);
  }
  return (
    <Page title={short} above={above} action={data && <RunActions key={data.run_id} run={data} />}>
      <Panel query={run} what="Run">
        {(shown) => (
          <>
            <RunHead run={shown} />
            <Tabs run={shown} />
          </>
        )}
      </Panel>
    </Page>
  );
}

function Tabs({ run }: RunTabProps) {
  const [search] = useSearchState();
  const tab = search.tab ?? '';
  const active = TABS.find(({ id }) => id === tab);
  const step = search.step === undefined ? {} : { step: search.step };
  return (
    <>
      <nav className={classes.tabs} aria-label="Parts of the run">
        {TABS.map(({ id, title }) => (
          <PageLink
            key={id}
            to={`/runs/${run.run_id}`}
            search={{ ...(id !== '' && { tab: id }), ...step }}
            aria-current={id === tab ? 'page' : undefined}
          >
            {title}
          </PageLink>
        ))}
      </nav>
      {active === undefined ? (
        <Empty title="The run has no such part." />
      ) : (
        <Suspense fallback={<Skeleton rows={8} what={active.title} />}>
          <active.Content key={run.run_id} run={run} />
        </Suspense>
      )}
    </>
  );
}

function bare({ method }: WholeRun): string {
  return method.replace(/^wf_/, '');
}
