// Method: what it is, its runs and versions, its source, and what it was made from.
import { Button } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import { Suspense } from 'react';
import { isFailure } from '../../api/failure.ts';
import { shortVersion, useMethod, type WholeMethod } from '../../api/method-reads.ts';
import { CopyButton } from '../../design/copy-button.tsx';
import { Empty } from '../../design/empty.tsx';
import { HostileText } from '../../design/hostile-text.tsx';
import { Page } from '../../design/page.tsx';
import { Panel } from '../../design/panel.tsx';
import { Skeleton } from '../../design/skeleton.tsx';
import { useGo } from '../../frame/navigate.ts';
import { PageLink } from '../../frame/page-link.tsx';
import { part } from '../../frame/part.ts';
import { useMay } from '../../session/viewer.tsx';
import classes from './method.module.css';
import { OverviewTab } from './overview-tab.tsx';
import { PromptTab } from './prompt-tab.tsx';
import { RecordingTab } from './recording-tab.tsx';
import { RunsTab } from './runs-tab.tsx';
import { SettingsTab } from './settings-tab.tsx';
import { VersionsTab } from './versions-tab.tsx';

// The editor is most of this page's script.
const SourceTab = part(async () => (await import('./source-tab.tsx')).SourceTab);

export interface MethodTabProps {
  readonly method: WholeMethod;
}

const TABS = [
  { id: '', title: 'Overview', Content: OverviewTab },
  { id: 'runs', title: 'Runs', Content: RunsTab },
  { id: 'versions', title: 'Versions', Content: VersionsTab },
  { id: 'source', title: 'Source', Content: SourceTab },
  { id: 'recording', title: 'Recording', Content: RecordingTab },
  { id: 'prompt', title: 'Agent prompt', Content: PromptTab },
  { id: 'settings', title: 'Settings', Content: SettingsTab },
] as const;

export function MethodPage() {
  const { method: id = '', tab = '' } = useParams({ strict: false }) as { method?: string; tab?: string };
  const method = useMethod(id);
  if (isFailure(method.error, 'not_found')) {
    return (
      <Page title="Method" above={[{ title: 'Methods', to: '/methods' }]}>
        <Empty title="There is no such method in this organization." />
      </Page>
    );
  }
  const name = method.data?.display_name ?? 'Method';
  return (
    <Page
      title={name}
      heading={<HostileText text={name} max={200} />}
      above={[{ title: 'Methods', to: '/methods' }]}
      action={method.data === undefined ? undefined : <Primary method={method.data} tab={tab} />}
    >
      <Panel query={method} what="Method">
        {(data) => <Tabs method={data} tab={tab} />}
      </Panel>
    </Page>
  );
}

function Primary({ method, tab }: { readonly method: WholeMethod; readonly tab: string }) {
  const go = useGo();
  const may = useMay('member');
  if (!may || method.current_version === null || tab === '') return null;
  return (
    <Button size="xs" onClick={() => go(`/methods/${method.id}`, { start: 'yes' })}>
      Start a run
    </Button>
  );
}

function Tabs({ method, tab }: { readonly method: WholeMethod; readonly tab: string }) {
  const shown = TABS.filter(({ id }) => id !== 'recording' || method.available_records.includes('recording'));
  const active = shown.find(({ id }) => id === tab);
  return (
    <>
      <p className={classes.facts}>
        <Status method={method} />
        <span className={classes.id}>
          <code>{method.production_id}</code>
          <CopyButton text={method.production_id} what="the method’s id" />
        </span>
      </p>
      <nav className={classes.tabs} aria-label="Parts of the method">
        {shown.map(({ id, title }) => (
          <PageLink
            key={id}
            to={`/methods/${method.id}${id === '' ? '' : `/${id}`}`}
            aria-current={id === tab ? 'page' : undefined}
          >
            {title}
          </PageLink>
        ))}
      </nav>
      {active === undefined ? (
        <Empty title="The method has no such part." />
      ) : (
        <Suspense fallback={<Skeleton rows={8} what={active.title} />}>
          <active.Content key={method.id} method={method} />
        </Suspense>
      )}
    </>
  );
}

function Status({ method }: { readonly method: WholeMethod }) {
  const { status, published_version, current_version } = method;
  if (status === 'building') return <span role="status">Its recording is being compiled.</span>;
  if (status === 'failed') return <span className={classes.wrong}>Its recording could not be compiled.</span>;
  if (published_version === null)
    return <span className={classes.wrong}>Nothing is published: runs cannot start yet.</span>;
  return (
    <span>
      Published {shortVersion(published_version)}
      {current_version !== published_version && ', and newer changes are not published'}
    </span>
  );
}
