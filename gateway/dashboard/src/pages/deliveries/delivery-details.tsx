// One delivery: where it went, all its tries, and sending it again.
import { Button, Drawer } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { got } from '../../api/client.ts';
import { useApi } from '../../api/use-api.ts';
import { HostileText } from '../../design/hostile-text.tsx';
import { Panel } from '../../design/panel.tsx';
import { PageLink } from '../../frame/page-link.tsx';
import { showFailure, showToast } from '../../frame/toast-list.ts';
import { Duration, Time } from '../../time/time.tsx';
import classes from './deliveries.module.css';
import { KINDS } from './delivery-filter.ts';
import { DeliveryState } from './delivery-state.tsx';
import { DeliveryTarget } from './delivery-target.tsx';

interface DeliveryDetailsProps {
  readonly id: string;
  readonly mayResend: boolean;
  readonly onClose: () => void;
}

export function DeliveryDetails({ id, mayResend, onClose }: DeliveryDetailsProps) {
  const { org, api } = useApi();
  const client = useQueryClient();
  const delivery = useQuery({
    queryKey: [org, 'deliveries', id],
    queryFn: async ({ signal }) =>
      (await got(api.GET('/api/deliveries/{id}', { params: { path: { id } }, signal }))).delivery,
    meta: { staleOn: ['delivery'] },
  });
  const resend = useMutation({
    mutationFn: () => got(api.POST('/api/deliveries/{id}/resend', { params: { path: { id } } })),
    onSuccess: () => {
      showToast({ text: 'The delivery will be sent again.' });
      return client.invalidateQueries({ queryKey: [org, 'deliveries'] });
    },
    onError: (error) => showFailure('Sending', error),
  });
  return (
    <Drawer opened onClose={onClose} position="right" size="lg" title="Delivery">
      <Panel query={delivery} what="The delivery" rows={4}>
        {(found) => (
          <>
            <dl className={classes.facts}>
              <dt>Status</dt>
              <dd>
                <DeliveryState delivery={found} />
                {found.next_try_at !== null && (
                  <span className={classes.quiet}>
                    {' '}
                    next try <Time at={found.next_try_at} as="ago" />
                  </span>
                )}
              </dd>
              <dt>Event</dt>
              <dd>
                <HostileText text={found.event} max={60} />, number {found.seq} of its run
              </dd>
              <dt>Run</dt>
              <dd>
                <PageLink to={`/runs/${found.run_id}`}>{found.run_id}</PageLink>
              </dd>
              <dt>{KINDS[found.kind]}</dt>
              <dd>
                <DeliveryTarget delivery={found} />
              </dd>
              <dt>Created</dt>
              <dd>
                <Time at={found.created_at} as="whole" />
              </dd>
            </dl>
            {mayResend && found.status !== 'pending' && (
              <Button onClick={() => resend.mutate()} loading={resend.isPending}>
                Send again
              </Button>
            )}
            <h3 className={classes.title}>
              {found.tries_count === 1 ? '1 try' : `${found.tries_count} tries`}
              {found.tries.length < found.tries_count && `, the last ${found.tries.length} shown`}
            </h3>
            <ol className={classes.tries}>
              {found.tries.map((each, at) => (
                <li key={at}>
                  <div>
                    <strong>
                      <HostileText text={each.error ?? `${each.status ?? 'Sent'}`} max={200} />
                    </strong>
                    <span className={classes.quiet}>
                      {' '}
                      <Time at={each.at} as="whole" />, <Duration ms={each.duration_ms} />
                    </span>
                  </div>
                  {each.reply !== '' && (
                    <pre className={classes.reply} tabIndex={0}>
                      <HostileText text={each.reply} lines />
                    </pre>
                  )}
                </li>
              ))}
            </ol>
          </>
        )}
      </Panel>
    </Drawer>
  );
}
