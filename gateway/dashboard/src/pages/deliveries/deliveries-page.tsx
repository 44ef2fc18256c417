// Deliveries: every webhook, chat message and mail, with all its tries; one or many can be sent again.
import { Button, Select } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { got } from '../../api/client.ts';
import type { Delivery } from '../../api/shapes.ts';
import { useApi } from '../../api/use-api.ts';
import { ConfirmInNumbers } from '../../design/confirm-in-numbers.tsx';
import type { Column } from '../../design/data-row.tsx';
import { DataTable } from '../../design/data-table.tsx';
import { Empty } from '../../design/empty.tsx';
import { HostileText } from '../../design/hostile-text.tsx';
import { Page } from '../../design/page.tsx';
import { Panel } from '../../design/panel.tsx';
import { useSearchState } from '../../frame/navigate.ts';
import { showToast } from '../../frame/toast-list.ts';
import { useMay } from '../../session/viewer.tsx';
import { Time } from '../../time/time.tsx';
import classes from './deliveries.module.css';
import { DeliveryDetails } from './delivery-details.tsx';
import { deliveryFilter, KINDS, STATUSES } from './delivery-filter.ts';
import { DeliveryState } from './delivery-state.tsx';
import { DeliveryTarget } from './delivery-target.tsx';

const PAGE = 100;
/** The API takes this many ids in a call. */
const AT_ONCE_MAX = 100;

export function DeliveriesPage() {
  const { org, api } = useApi();
  const [search, change] = useSearchState();
  const { filter, count } = deliveryFilter(search);
  const mayResend = useMay('member');
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [isAsking, setAsking] = useState(false);
  const deliveries = useInfiniteQuery({
    queryKey: [org, 'deliveries', 'list', filter],
    queryFn: ({ pageParam, signal }) =>
      got(
        api.GET('/api/deliveries', {
          params: { query: { limit: PAGE, ...filter, ...(pageParam && { cursor: pageParam }) } },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
    meta: { staleOn: ['delivery'], everyMs: 2_000 },
  });
  const columns = useMemo<Column<Delivery>[]>(
    () => [
      { id: 'status', header: 'Status', width: '130px', cell: (each) => <DeliveryState delivery={each} /> },
      { id: 'event', header: 'Event', width: '150px', cell: (each) => <HostileText text={each.event} max={60} /> },
      { id: 'kind', header: 'By', width: '100px', cell: (each) => KINDS[each.kind] },
      {
        id: 'to',
        header: 'To',
        width: 'minmax(160px, 2fr)',
        cell: (each) => <DeliveryTarget delivery={each} />,
      },
      {
        id: 'reply',
        header: 'Last try',
        width: 'minmax(110px, 1fr)',
        cell: (each) => <LastTry delivery={each} />,
      },
      { id: 'tries', header: 'Tries', width: '70px', align: 'end', cell: (each) => each.tries_count },
      { id: 'at', header: 'Created', width: '130px', align: 'end', cell: (each) => <Time at={each.created_at} /> },
    ],
    [],
  );
  const resend = async () => {
    const ids = [...selected];
    let sent = 0;
    for (let at = 0; at < ids.length; at += AT_ONCE_MAX) {
      const reply = await got(api.POST('/api/deliveries/resend', { body: { ids: ids.slice(at, at + AT_ONCE_MAX) } }));
      sent += reply.ids.length;
    }
    setSelected(new Set());
    showToast({ text: `${deliveriesWord(sent)} will be sent again.` });
    await deliveries.refetch();
  };
  const act = `Send ${deliveriesWord(selected.size)} again`;
  return (
    <Page
      title="Deliveries"
      action={selected.size > 0 && mayResend ? <Button onClick={() => setAsking(true)}>{act}</Button> : undefined}
    >
      <div className={classes.filters}>
        <Select
          aria-label="Status"
          placeholder="Any status"
          clearable
          data={STATUSES.map(({ value, word }) => ({ value, label: word }))}
          value={filter.status ?? null}
          onChange={(value) => change({ status: value })}
          data-filter
        />
        <Select
          aria-label="Kind"
          placeholder="Any kind"
          clearable
          data={Object.entries(KINDS).map(([value, label]) => ({ value, label }))}
          value={filter.kind ?? null}
          onChange={(value) => change({ kind: value })}
        />
        {filter.run !== undefined && (
          <Button variant="default" onClick={() => change({ run: null })} aria-label="Show the deliveries of all runs">
            Run …{filter.run.slice(-8)} ×
          </Button>
        )}
      </div>
      <Panel
        query={deliveries}
        what="Deliveries"
        isEmpty={({ pages }) => pages.every(({ items }) => items.length === 0)}
        filters={{ count, onClear: () => change({ status: null, kind: null, run: null, endpoint: null }) }}
        empty={
          <Empty title="Nothing has been sent yet">
            <p>Runs with a webhook_url, endpoints of the settings, and questions to people send something.</p>
          </Empty>
        }
      >
        {({ pages }) => (
          <DataTable
            label="Deliveries"
            rows={pages.flatMap(({ items }) => items)}
            columns={columns}
            rowId={(each) => each.id}
            onOpen={(each) => change({ delivery: each.id })}
            phone={(each) => ({
              first: (
                <>
                  <DeliveryState delivery={each} /> <HostileText text={each.event} max={60} />
                </>
              ),
              second: (
                <>
                  {KINDS[each.kind]} · <Time at={each.created_at} />
                </>
              ),
            })}
            selection={mayResend ? { ids: selected, onChange: setSelected } : undefined}
            onEnd={() => {
              if (deliveries.hasNextPage && !deliveries.isFetchingNextPage) void deliveries.fetchNextPage();
            }}
          />
        )}
      </Panel>
      {search.delivery !== undefined && (
        <DeliveryDetails id={search.delivery} onClose={() => change({ delivery: null })} mayResend={mayResend} />
      )}
      <ConfirmInNumbers
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        act={act}
        isDangerous={false}
        onConfirm={resend}
      >
        <p>
          Each receiver gets the same body again, with a new signature. Deliveries that are still tried are left out.
        </p>
      </ConfirmInNumbers>
    </Page>
  );
}

function LastTry({ delivery }: { readonly delivery: Delivery }) {
  const last = delivery.tries.at(-1);
  if (last === undefined) return <span className={classes.quiet}>not tried yet</span>;
  return <HostileText text={last.error ?? `${last.status ?? 'sent'}`} max={80} />;
}

function deliveriesWord(count: number): string {
  return count === 1 ? '1 delivery' : `${count.toLocaleString('en')} deliveries`;
}
