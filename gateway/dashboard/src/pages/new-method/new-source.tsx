// The source of a new method, checked as one types or pastes it, and saved as its first version.
import { Button, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useDeferredValue, useMemo, useRef, useState } from 'react';
import { got } from '../../api/client.ts';
import { isFailure } from '../../api/failure.ts';
import { useMethodChanged } from '../../api/method-reads.ts';
import { useApi } from '../../api/use-api.ts';
import { RequestId } from '../../design/panel.tsx';
import { FindingList } from '../../editor/finding-list.tsx';
import { diagnosticsOf } from '../../editor/findings.ts';
import { SourceEditor } from '../../editor/source-editor.tsx';
import { useGo } from '../../frame/navigate.ts';
import classes from './new-method.module.css';

export function NewSource({ first }: { readonly first: string }) {
  const { api } = useApi();
  const go = useGo();
  const changed = useMethodChanged();
  const [text, setText] = useState(first);
  const [name, setName] = useState('');
  const [place, setPlace] = useState<{ line: number; column: number } | null>(null);
  const checked = useDeferredValue(text);
  const findings = useMemo(() => (checked.trim() === '' ? [] : diagnosticsOf(checked)), [checked]);
  const hasErrors = findings.some(({ severity }) => severity === 'error');
  // The same key until the reply is known: a second press makes no second method.
  const key = useRef<string | null>(null);
  const create = useMutation({
    mutationFn() {
      key.current ??= crypto.randomUUID();
      const display = name.trim();
      const body = { idempotency_key: key.current, source: text, ...(display !== '' && { display_name: display }) };
      return got(api.POST('/api/methods', { body }));
    },
    async onSuccess({ method }) {
      await changed();
      go(`/methods/${method.id}/versions`);
    },
    onError(error) {
      if (isFailure(error) && error.status > 0 && error.status < 500) key.current = null;
    },
  });
  const { error } = create;
  return (
    <form
      className={classes.source}
      onSubmit={(event) => {
        event.preventDefault();
        if (!hasErrors && text.trim() !== '') create.mutate();
      }}
    >
      <TextInput
        label="Name"
        description="Optional: the source's title or name otherwise."
        size="sm"
        maxLength={200}
        value={name}
        className={classes.name ?? ''}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <SourceEditor text={text} label="Source of the new method" onChange={setText} goTo={place} />
      {text.trim() !== '' && (
        <FindingList findings={findings} onGoTo={({ line, column }) => setPlace({ line, column })} />
      )}
      {error !== null && (
        <p role="alert" className={classes.wrong}>
          The method could not be saved. {error.message} <RequestId error={error} />
        </p>
      )}
      <Button type="submit" size="sm" loading={create.isPending} disabled={hasErrors || text.trim() === ''}>
        Save the method
      </Button>
    </form>
  );
}
