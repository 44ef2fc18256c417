// Workers: who is connected, how busy they are, and the command that starts one.
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { got } from '../../api/client.ts';
import { useMethodName } from '../../api/method-names.ts';
import type { ConnectedWorker } from '../../api/shapes.ts';
import { startCommand } from '../../api/start-command.ts';
import { useApi } from '../../api/use-api.ts';
import { Command } from '../../design/command.tsx';
import type { Column } from '../../design/data-row.tsx';
import { DataTable } from '../../design/data-table.tsx';
import { Empty } from '../../design/empty.tsx';
import { HostileText } from '../../design/hostile-text.tsx';
import { Page } from '../../design/page.tsx';
import { Panel } from '../../design/panel.tsx';
import { useSearchState } from '../../frame/navigate.ts';
import { Time } from '../../time/time.tsx';
import { Slots } from './slots.tsx';
import classes from './workers.module.css';

/** No event says when a worker was heard. */
const ASKED_EVERY_MS = 90_000;
const NAMES_SHOWN = 2;

export function WorkersPage() {
  const { org, api } = useApi();
  const [{ method }, change] = useSearchState();
  const nameOf = useMethodName();
  const workers = useQuery({
    queryKey: [org, 'workers'],
    queryFn: ({ signal }) => got(api.GET('/api/workers', { signal })),
    refetchInterval: ASKED_EVERY_MS,
    staleTime: 0,
    meta: { staleOn: ['run', 'workers'], everyMs: 2_000 },
  });
  const columns = useMemo<Column<ConnectedWorker>[]>(
    () => [
      { id: 'worker', header: 'Worker', width: 'minmax(140px, 2fr)', cell: (each) => <WorkerName worker={each} /> },
      {
        id: 'methods',
        header: 'Methods',
        width: 'minmax(150px, 3fr)',
        cell: (each) => <MethodNames worker={each} nameOf={nameOf} />,
      },
      { id: 'slots', header: 'Runs at a time', width: '160px', cell: (each) => <Slots worker={each} /> },
      { id: 'sdk', header: 'Version', width: '220px', cell: (each) => <HostileText text={each.sdk} max={60} /> },
      { id: 'since', header: 'Connected', width: '120px', cell: (each) => <Time at={each.connected_at} as="ago" /> },
      { id: 'heard', header: 'Last heard', width: '110px', cell: (each) => <Time at={each.heard_at} as="ago" /> },
    ],
    [nameOf],
  );
  const serves = (each: ConnectedWorker) =>
    method === undefined || each.methods.includes(method) || each.methods_count > each.methods.length;
  return (
    <Page title="Workers">
      <Panel
        query={workers}
        what="Workers"
        isEmpty={({ items }) => !items.some(serves)}
        filters={method === undefined ? undefined : { count: 1, onClear: () => change({ method: null }) }}
        empty={
          <Empty title="No worker is connected">
            <p>Runs wait until one is. Start one where your secrets and packages are:</p>
            <Command text={startCommand(window.location.origin, method)} />
          </Empty>
        }
      >
        {({ items, count, complete }) => (
          <>
            <p className={classes.head}>
              {count === 1 ? '1 worker is' : `${count.toLocaleString('en')} workers are`} connected.
              {count > items.length && ` The latest ${items.length.toLocaleString('en')} are listed.`}
              {!complete && ' A part of the server did not answer, so some may be missing.'}
            </p>
            <DataTable
              label="Workers"
              rows={items.filter(serves)}
              columns={columns}
              rowId={(each) => each.id}
              phone={(each) => ({
                first: <WorkerName worker={each} />,
                second: (
                  <>
                    {each.slots - each.free} of {each.slots} busy · heard <Time at={each.heard_at} as="ago" />
                  </>
                ),
              })}
              foot={
                <div className={classes.more}>
                  <p>Start another one:</p>
                  <Command text={startCommand(window.location.origin, method)} />
                </div>
              }
            />
          </>
        )}
      </Panel>
    </Page>
  );
}

/** The name that its operator gave it, and its machine; two workers may have the same. */
function WorkerName({ worker: { name, host, id } }: { readonly worker: ConnectedWorker }) {
  const words = [name, host].filter(Boolean).join(' · ');
  if (words === '') return <HostileText text={id} />;
  return (
    <span title={id}>
      <HostileText text={words} max={120} /> <span className={classes.quiet}>…{id.slice(-6)}</span>
    </span>
  );
}

interface MethodNamesProps {
  readonly worker: ConnectedWorker;
  readonly nameOf: (productionId: string) => string;
}

function MethodNames({ worker, nameOf }: MethodNamesProps) {
  const names = worker.methods.slice(0, NAMES_SHOWN).map(nameOf);
  const more = worker.methods_count - names.length;
  const text = names.join(', ');
  return (
    <span title={worker.methods.map(nameOf).join(', ')}>
      <HostileText text={text} max={120} />
      {more > 0 && <span className={classes.quiet}> and {more.toLocaleString('en')} more</span>}
      {worker.features.length > 0 && (
        <span className={classes.quiet}>
          {' · '}
          <HostileText text={worker.features.join(', ')} max={80} />
        </span>
      )}
    </span>
  );
}
