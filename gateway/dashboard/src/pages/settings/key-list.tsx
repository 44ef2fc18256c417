// Service keys: making one in this browser, renewing its webhook secret, and revoking it.
import { Button } from '@mantine/core';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { got } from '../../api/client.ts';
import type { ServiceKey } from '../../api/shapes.ts';
import { useApi } from '../../api/use-api.ts';
import { ConfirmInNumbers } from '../../design/confirm-in-numbers.tsx';
import { Empty } from '../../design/empty.tsx';
import { HostileText } from '../../design/hostile-text.tsx';
import { Panel } from '../../design/panel.tsx';
import { PageLink } from '../../frame/page-link.tsx';
import { useMay } from '../../session/viewer.tsx';
import { Time } from '../../time/time.tsx';
import { ListTable } from './list-table.tsx';
import { NewKey } from './new-key.tsx';
import classes from './settings.module.css';
import { ShownSecrets } from './shown-secrets.tsx';

export function KeyList() {
  const { org, api } = useApi();
  const client = useQueryClient();
  const isAdmin = useMay('admin');
  const [isMaking, setMaking] = useState(false);
  const [revoking, setRevoking] = useState<ServiceKey | null>(null);
  const [renewing, setRenewing] = useState<ServiceKey | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const queryKey = [org, 'keys'];
  const keys = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      got(api.GET('/api/keys', { params: { query: { limit: 200, ...(pageParam && { cursor: pageParam }) } }, signal })),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
    meta: { staleOn: ['key'] },
  });
  const refresh = () => client.invalidateQueries({ queryKey });
  const revoke = async (id: string) => {
    await got(api.POST('/api/keys/{id}/revoke', { params: { path: { id } } }));
    await refresh();
  };
  const renew = async (id: string) => {
    const reply = await got(api.POST('/api/keys/{id}/webhook-secret', { params: { path: { id } } }));
    setSecret(reply.webhook_secret);
  };
  const newKey = isAdmin && <Button onClick={() => setMaking(true)}>New key</Button>;
  return (
    <>
      <Panel
        query={keys}
        what="Keys"
        isEmpty={({ pages }) => pages.every(({ items }) => items.length === 0)}
        empty={
          <Empty title="No key yet">
            <p>Applications and workers use a key. {isAdmin ? '' : 'Only admins make keys.'}</p>
            {newKey}
          </Empty>
        }
      >
        {({ pages }) => (
          <>
            <div className={classes.above}>
              <p className={classes.quiet}>Applications and workers call this server with a key.</p>
              {newKey}
            </div>
            <ListTable
              label="Keys"
              head={['Name and id', 'Made', 'Last used', '']}
              onMore={keys.hasNextPage ? () => void keys.fetchNextPage() : undefined}
            >
              {pages
                .flatMap(({ items }) => items)
                .map((key) => (
                  <tr key={key.id} data-ended={key.revoked_at !== null}>
                    <th scope="row" className={classes.long}>
                      <HostileText text={key.name} max={120} />
                      <div className={classes.mono}>{key.id}</div>
                    </th>
                    <td>
                      <Time at={key.created_at} />
                      {key.created_by !== null && (
                        <span className={classes.quiet}>
                          {' by '}
                          <HostileText text={key.created_by.name || key.created_by.id} max={80} />
                        </span>
                      )}
                    </td>
                    <td>
                      {key.last_used_at === null ? 'never' : <Time at={key.last_used_at} as="ago" />}
                      {' · '}
                      <PageLink to="/" search={{ started_by: key.id }}>
                        Its runs
                      </PageLink>
                    </td>
                    <td>
                      {key.revoked_at !== null ? (
                        <span className={classes.quiet}>
                          revoked <Time at={key.revoked_at} />
                        </span>
                      ) : (
                        isAdmin && (
                          <>
                            <Button variant="subtle" onClick={() => setRenewing(key)}>
                              New webhook secret
                            </Button>
                            <Button variant="subtle" onClick={() => setRevoking(key)}>
                              Revoke
                            </Button>
                          </>
                        )
                      )}
                    </td>
                  </tr>
                ))}
            </ListTable>
          </>
        )}
      </Panel>
      <NewKey isOpen={isMaking} onClose={() => setMaking(false)} onMade={refresh} />
      <ConfirmInNumbers
        isOpen={revoking !== null}
        onClose={() => setRevoking(null)}
        act="Revoke 1 key"
        onConfirm={() => revoke(revoking?.id ?? '')}
      >
        <p>
          Applications and workers with the key <HostileText text={revoking?.name ?? ''} max={120} /> are refused within
          30 seconds. It cannot be undone. Its runs continue, and their webhooks stay signed with its secret.
        </p>
      </ConfirmInNumbers>
      <ConfirmInNumbers
        isOpen={renewing !== null}
        onClose={() => setRenewing(null)}
        act="Make 1 new webhook secret"
        onConfirm={() => renew(renewing?.id ?? '')}
      >
        <p>
          Webhooks of the key <HostileText text={renewing?.name ?? ''} max={120} /> are signed with the new secret from
          now on. It is shown once.
        </p>
      </ConfirmInNumbers>
      <ShownSecrets
        title="The new webhook secret"
        secrets={secret === null ? [] : [{ name: 'WEBHOOK_SECRET', value: secret }]}
        onClose={() => setSecret(null)}
      />
    </>
  );
}
