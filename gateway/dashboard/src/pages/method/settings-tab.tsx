// Settings of a method: its name, and whether agents get it as a tool of its own.
import { Button, Switch, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { got } from '../../api/client.ts';
import { useMethodChanged } from '../../api/method-reads.ts';
import { useApi } from '../../api/use-api.ts';
import { RequestId } from '../../design/panel.tsx';
import { showFailure, showToast } from '../../frame/toast-list.ts';
import { useMay } from '../../session/viewer.tsx';
import classes from './method.module.css';
import type { MethodTabProps } from './method-page.tsx';

const NAME_CHARACTERS_MAX = 200;

export function SettingsTab({ method }: MethodTabProps) {
  const { api } = useApi();
  const mayWrite = useMay('member');
  const isAdmin = useMay('admin');
  const changed = useMethodChanged();
  const [name, setName] = useState(method.display_name);
  const path = { params: { path: { id: method.id } } };
  const rename = useMutation({
    mutationFn: () => got(api.PATCH('/api/methods/{id}', { ...path, body: { display_name: name.trim() } })),
    async onSuccess() {
      await changed();
      showToast({ text: 'The name is changed.' });
    },
  });
  const offer = useMutation({
    mutationFn: (offered: boolean) =>
      got(api.PATCH('/api/methods/{id}', { ...path, body: { offer_to_agents: offered } })),
    onSuccess: changed,
    onError: (error) => showFailure('The change', error),
  });
  return (
    <div className={classes.settings}>
      <form
        className={classes.form}
        onSubmit={(event) => {
          event.preventDefault();
          rename.mutate();
        }}
      >
        <TextInput
          label="Name"
          description="Shown in lists and questions. The source keeps its own name."
          size="sm"
          maxLength={NAME_CHARACTERS_MAX}
          value={name}
          disabled={!mayWrite}
          error={rename.error?.message}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <RequestId error={rename.error} />
        {mayWrite && (
          <Button
            type="submit"
            size="sm"
            loading={rename.isPending}
            disabled={name.trim() === '' || name.trim() === method.display_name}
          >
            Change the name
          </Button>
        )}
      </form>
      <section>
        <h2>Agents</h2>
        <Switch
          label="Offer to agents"
          description={
            isAdmin
              ? 'MCP clients of the organization get its published version as a tool of its own.'
              : 'MCP clients get its published version as a tool of its own. Only admins change this.'
          }
          checked={method.offered_to_agents}
          disabled={!isAdmin || offer.isPending || (method.published_version === null && !method.offered_to_agents)}
          onChange={(event) => offer.mutate(event.currentTarget.checked)}
        />
      </section>
      <section>
        <h2>Where it is used</h2>
        <p className={classes.quiet}>
          A method is kept with all its versions: runs and audits name them. To end its use, stop its workers and revoke
          the keys that start it.
        </p>
      </section>
    </div>
  );
}
