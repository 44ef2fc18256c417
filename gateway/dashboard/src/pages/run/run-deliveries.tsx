// The webhooks, mails and chat messages about a run.
import { useInfiniteQuery } from '@tanstack/react-query';
import { got } from '../../api/client.ts';
import { useApi } from '../../api/use-api.ts';
import { DataTable } from '../../design/data-table.tsx';
import { Empty } from '../../design/empty.tsx';
import { Panel } from '../../design/panel.tsx';
import { Time } from '../../time/time.tsx';
import { KINDS } from '../deliveries/delivery-filter.ts';
import { DeliveryState } from '../deliveries/delivery-state.tsx';
import { DeliveryTarget } from '../deliveries/delivery-target.tsx';
import type { RunTabProps } from './run-page.tsx';

const PAGE = 100;

export function RunDeliveries({ run }: RunTabProps) {
  const { org, api } = useApi();
  const deliveries = useInfiniteQuery({
    queryKey: [org, 'run', run.run_id, 'deliveries'],
    queryFn: ({ pageParam, signal }) => {
      const query = { run: run.run_id, limit: PAGE, ...(pageParam && { cursor: pageParam }) };
      return got(api.GET('/api/deliveries', { params: { query }, signal }));
    },
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
  return (
    <Panel
      query={deliveries}
      what="Deliveries"
      isEmpty={({ pages }) => pages.every(({ items }) => items.length === 0)}
      empty={<Empty title="Nothing has been sent about this run." />}
    >
      {({ pages }) => (
        <DataTable
          label="Deliveries"
          rows={pages.flatMap(({ items }) => items)}
          rowId={({ id }) => id}
          rowLink={({ id }) => ({ to: '/deliveries', search: { run: run.run_id, delivery: id } })}
          columns={[
            { id: 'status', header: 'Status', width: '130px', cell: (each) => <DeliveryState delivery={each} /> },
            { id: 'event', header: 'Event', width: '160px', cell: ({ event }) => event },
            { id: 'kind', header: 'By', width: '100px', cell: ({ kind }) => KINDS[kind] },
            {
              id: 'to',
              header: 'To',
              width: 'minmax(160px, 1fr)',
              cell: (each) => <DeliveryTarget delivery={each} />,
            },
            { id: 'at', header: 'Created', width: '140px', cell: ({ created_at: at }) => <Time at={at} /> },
          ]}
          phone={(each) => ({
            first: `${each.event} by ${KINDS[each.kind]}`,
            second: (
              <>
                <DeliveryState delivery={each} /> · <Time at={each.created_at} />
              </>
            ),
          })}
          onEnd={() => {
            if (deliveries.hasNextPage && !deliveries.isFetchingNextPage) void deliveries.fetchNextPage();
          }}
        />
      )}
    </Panel>
  );
}
