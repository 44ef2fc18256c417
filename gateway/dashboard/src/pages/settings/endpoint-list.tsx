// Endpoints: addresses and chat channels that get the events of all runs.
import { Button, Switch } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { got } from '../../api/client.ts';
import type { Endpoint } from '../../api/shapes.ts';
import { useApi } from '../../api/use-api.ts';
import { ConfirmInNumbers } from '../../design/confirm-in-numbers.tsx';
import { Empty } from '../../design/empty.tsx';
import { HostileText } from '../../design/hostile-text.tsx';
import { Panel } from '../../design/panel.tsx';
import { PageLink } from '../../frame/page-link.tsx';
import { showFailure } from '../../frame/toast-list.ts';
import { useMay } from '../../session/viewer.tsx';
import { Time } from '../../time/time.tsx';
import { EndpointForm } from './endpoint-form.tsx';
import { ListTable } from './list-table.tsx';
import classes from './settings.module.css';
import { ShownSecrets } from './shown-secrets.tsx';

const FORMATS: Readonly<Record<Endpoint['format'], string>> = { webhook: 'Webhook', slack: 'Slack', teams: 'Teams' };

export function EndpointList() {
  const { org, api } = useApi();
  const client = useQueryClient();
  const isAdmin = useMay('admin');
  /** `null`: a new one. */
  const [edited, setEdited] = useState<Endpoint | null | undefined>(undefined);
  const [deleting, setDeleting] = useState<Endpoint | null>(null);
  const [rotating, setRotating] = useState<Endpoint | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const queryKey = [org, 'endpoints'];
  const endpoints = useQuery({ queryKey, queryFn: ({ signal }) => got(api.GET('/api/endpoints', { signal })) });
  const refresh = () => client.invalidateQueries({ queryKey });
  const pause = useMutation({
    mutationFn: ({ id, paused }: Pick<Endpoint, 'id' | 'paused'>) =>
      got(api.PATCH('/api/endpoints/{id}', { params: { path: { id } }, body: { paused } })),
    onError: (error) => showFailure('The change', error),
    onSettled: refresh,
  });
  const remove = async (id: string) => {
    await got(api.DELETE('/api/endpoints/{id}', { params: { path: { id } } }));
    await refresh();
  };
  const rotate = async (id: string) => {
    const reply = await got(api.POST('/api/endpoints/{id}/rotate', { params: { path: { id } }, body: {} }));
    setSecret(reply.webhook_secret);
    await refresh();
  };
  const add = isAdmin && <Button onClick={() => setEdited(null)}>New endpoint</Button>;
  return (
    <>
      <Panel
        query={endpoints}
        what="Endpoints"
        isEmpty={({ items }) => items.length === 0}
        empty={
          <Empty title="No endpoint yet">
            <p>
              An endpoint gets the events of all runs: an address of yours, or a channel of Slack or Teams.
              {isAdmin ? '' : ' Only admins make them.'}
            </p>
            {add}
          </Empty>
        }
      >
        {({ items }) => (
          <>
            <div className={classes.above}>
              <p className={classes.quiet}>Endpoints get the events of all runs.</p>
              {add}
            </div>
            <ListTable label="Endpoints" head={['Name', 'Kind', 'Address', 'Events', 'On', '']} onMore={undefined}>
              {items.map((each) => (
                <tr key={each.id}>
                  <th scope="row">
                    <HostileText text={each.name} max={120} />
                  </th>
                  <td>{FORMATS[each.format]}</td>
                  <td className={classes.long}>
                    <HostileText text={each.url} max={300} />
                  </td>
                  <td className={classes.long}>
                    {each.events.join(', ')}
                    {each.earlier_secret_until !== null && (
                      <div className={classes.quiet}>
                        also signed with the earlier secret until <Time at={each.earlier_secret_until} />
                      </div>
                    )}
                  </td>
                  <td>
                    <Switch
                      aria-label={`Send events to ${each.name}`}
                      checked={!each.paused}
                      disabled={!isAdmin || pause.isPending}
                      onChange={() => pause.mutate({ id: each.id, paused: !each.paused })}
                    />
                  </td>
                  <td>
                    <PageLink to="/deliveries" search={{ endpoint: each.id }} className={classes.link}>
                      Deliveries
                    </PageLink>
                    {isAdmin && (
                      <>
                        <Button variant="subtle" onClick={() => setEdited(each)}>
                          Edit
                        </Button>
                        {each.format === 'webhook' && (
                          <Button variant="subtle" onClick={() => setRotating(each)}>
                            New secret
                          </Button>
                        )}
                        <Button variant="subtle" onClick={() => setDeleting(each)}>
                          Delete
                        </Button>
                      </>
                    )}
                  </td>
                </tr>
              ))}
            </ListTable>
          </>
        )}
      </Panel>
      {edited !== undefined && (
        <EndpointForm
          endpoint={edited}
          onClose={() => setEdited(undefined)}
          onSaved={(made) => {
            setEdited(undefined);
            if (made !== undefined) setSecret(made);
            void refresh();
          }}
        />
      )}
      <ConfirmInNumbers
        isOpen={deleting !== null}
        onClose={() => setDeleting(null)}
        act="Delete 1 endpoint"
        onConfirm={() => remove(deleting?.id ?? '')}
      >
        <p>
          <HostileText text={deleting?.name ?? ''} max={120} /> gets no more events. What is on its way to it stops.
        </p>
      </ConfirmInNumbers>
      <ConfirmInNumbers
        isOpen={rotating !== null}
        onClose={() => setRotating(null)}
        act="Make 1 new secret"
        isDangerous={false}
        onConfirm={() => rotate(rotating?.id ?? '')}
      >
        <p>
          Events to <HostileText text={rotating?.name ?? ''} max={120} /> carry signatures of both secrets for a day.
          The new one is shown once.
        </p>
      </ConfirmInNumbers>
      <ShownSecrets
        title="The endpoint’s secret"
        secrets={secret === null ? [] : [{ name: 'WEBHOOK_SECRET', value: secret }]}
        onClose={() => setSecret(null)}
      />
    </>
  );
}
