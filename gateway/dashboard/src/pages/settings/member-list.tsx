// Members: who they are, their roles, and ending a person's access.
import { Button, Select } from '@mantine/core';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { got } from '../../api/client.ts';
import type { Member } from '../../api/shapes.ts';
import { useApi } from '../../api/use-api.ts';
import { ConfirmInNumbers } from '../../design/confirm-in-numbers.tsx';
import { HostileText } from '../../design/hostile-text.tsx';
import { Panel } from '../../design/panel.tsx';
import { showFailure, showToast } from '../../frame/toast-list.ts';
import { useMay, useViewer } from '../../session/viewer.tsx';
import { Time } from '../../time/time.tsx';
import { ListTable } from './list-table.tsx';
import classes from './settings.module.css';

const ROLES = [
  { value: 'viewer', label: 'Viewer: reads' },
  { value: 'member', label: 'Member: saves, runs, answers' },
  { value: 'admin', label: 'Admin: keys, members, settings' },
];

export function MemberList() {
  const { org, api } = useApi();
  const client = useQueryClient();
  const isAdmin = useMay('admin');
  const own = useViewer().user.id;
  const [leaving, setLeaving] = useState<Member | null>(null);
  const queryKey = [org, 'members'];
  const members = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      got(
        api.GET('/api/members', { params: { query: { limit: 200, ...(pageParam && { cursor: pageParam }) } }, signal }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
  const change = useMutation({
    mutationFn: ({ id, role }: Pick<Member, 'id' | 'role'>) =>
      got(api.PATCH('/api/members/{id}', { params: { path: { id } }, body: { role } })),
    onSuccess: ({ name, email, role }) => showToast({ text: `${name || email} is ${role} now.` }),
    onError: (error) => showFailure('The change', error),
    onSettled: () => client.invalidateQueries({ queryKey }),
  });
  const disable = async (id: string) => {
    await got(api.DELETE('/api/members/{id}', { params: { path: { id } } }));
    await client.invalidateQueries({ queryKey });
  };
  return (
    <Panel query={members} what="Members">
      {({ pages }) => (
        <>
          <p className={classes.quiet}>People join by signing in. The identity provider decides who may.</p>
          <ListTable
            label="Members"
            head={['Name', 'Address', 'Role', 'Last seen', '']}
            onMore={members.hasNextPage ? () => void members.fetchNextPage() : undefined}
          >
            {pages
              .flatMap(({ items }) => items)
              .map((member) => (
                <tr key={member.id}>
                  <th scope="row">
                    <HostileText text={member.name || '–'} max={120} />
                    {member.id === own && <span className={classes.quiet}> (you)</span>}
                  </th>
                  <td>
                    <HostileText text={member.email} max={254} />
                    {!member.email_verified && member.email !== '' && (
                      <span className={classes.quiet}> not verified, gets no mail</span>
                    )}
                  </td>
                  <td>
                    {isAdmin && member.disabled_at === null ? (
                      <Select
                        aria-label={`Role of ${member.name || member.email}`}
                        data={ROLES}
                        allowDeselect={false}
                        value={member.role}
                        onChange={(role) => change.mutate({ id: member.id, role: role as Member['role'] })}
                      />
                    ) : (
                      member.role
                    )}
                  </td>
                  <td>
                    <Time at={member.last_seen_at} as="ago" />
                  </td>
                  <td>
                    {member.disabled_at !== null ? (
                      <span className={classes.quiet}>
                        access ended <Time at={member.disabled_at} />
                      </span>
                    ) : (
                      isAdmin && (
                        <Button variant="subtle" onClick={() => setLeaving(member)}>
                          End access
                        </Button>
                      )
                    )}
                  </td>
                </tr>
              ))}
          </ListTable>
          <ConfirmInNumbers
            isOpen={leaving !== null}
            onClose={() => setLeaving(null)}
            act="End this person’s access"
            onConfirm={() => disable(leaving?.id ?? '')}
          >
            <p>
              <HostileText text={leaving?.name || leaving?.email || ''} max={120} /> is signed out within 30 seconds and
              cannot sign in to this organization again. Service keys they made continue: revoke those that you do not
              know.
            </p>
          </ConfirmInNumbers>
        </>
      )}
    </Panel>
  );
}
