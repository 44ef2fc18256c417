// Agent prompt: instructions for agents that work on the method.
import { Button, Textarea } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { got } from '../../api/client.ts';
import { useMethodChanged } from '../../api/method-reads.ts';
import { useApi } from '../../api/use-api.ts';
import { HostileText } from '../../design/hostile-text.tsx';
import { Panel, RequestId } from '../../design/panel.tsx';
import { showToast } from '../../frame/toast-list.ts';
import { useMay } from '../../session/viewer.tsx';
import classes from './method.module.css';
import type { MethodTabProps } from './method-page.tsx';

export function PromptTab({ method }: MethodTabProps) {
  const { org, api } = useApi();
  const mayWrite = useMay('member');
  const prompt = useQuery({
    queryKey: [org, 'method', method.id, 'prompt'],
    queryFn: ({ signal }) =>
      got(api.GET('/api/methods/{id}/agent-prompt', { params: { path: { id: method.id } }, signal })),
  });
  return (
    <Panel query={prompt} what="Agent prompt">
      {({ agent_prompt: saved }) =>
        mayWrite ? (
          <PromptForm key={saved ?? ''} method={method} saved={saved ?? ''} />
        ) : saved === null ? (
          <p className={classes.quiet}>It has none.</p>
        ) : (
          <pre className={classes.prompt}>
            <HostileText text={saved} max={64 * 1024} lines />
          </pre>
        )
      }
    </Panel>
  );
}

function PromptForm({ method, saved }: MethodTabProps & { readonly saved: string }) {
  const { api } = useApi();
  const changed = useMethodChanged();
  const [text, setText] = useState(saved);
  const save = useMutation({
    mutationFn: () =>
      got(api.PATCH('/api/methods/{id}', { params: { path: { id: method.id } }, body: { agent_prompt: text } })),
    async onSuccess() {
      await changed();
      showToast({ text: text === '' ? 'The agent prompt is gone.' : 'The agent prompt is saved.' });
    },
  });
  return (
    <form
      className={classes.wideForm}
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <Textarea
        label="Instructions for agents"
        description="Agents get them with the method, over MCP: what it is for, and what they must not do. At most 64 KiB; an empty one takes it away."
        size="sm"
        autosize
        minRows={10}
        maxRows={30}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      {save.error !== null && (
        <p role="alert" className={classes.wrong}>
          {save.error.message} <RequestId error={save.error} />
        </p>
      )}
      <Button type="submit" size="sm" disabled={text === saved} loading={save.isPending}>
        Save
      </Button>
    </form>
  );
}
