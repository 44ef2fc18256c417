// Saves a source as a new version, with its reason; another person's version in between is a conflict.
import { Button, Modal, Textarea } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { got } from '../../api/client.ts';
import { isFailure } from '../../api/failure.ts';
import { shortVersion, useMethodChanged, type WholeMethod } from '../../api/method-reads.ts';
import { useApi } from '../../api/use-api.ts';
import { RequestId } from '../../design/panel.tsx';
import { PageLink } from '../../frame/page-link.tsx';
import { showToast } from '../../frame/toast-list.ts';
import classes from './method.module.css';

const REASON_CHARACTERS_MAX = 2_000;

interface SaveVersionProps {
  readonly method: WholeMethod;
  /** The version that was changed; empty: there is none. */
  readonly base: string;
  readonly source: string;
  readonly reason?: string;
  readonly onClose: () => void;
  readonly onSaved: (versionId: string) => void;
  /** `current`: the version that was saved meanwhile. */
  readonly onConflict: (current: string) => void;
}

export function SaveVersion({
  method,
  base,
  source,
  reason: first = '',
  onClose,
  onSaved,
  onConflict,
}: SaveVersionProps) {
  const { api } = useApi();
  const changed = useMethodChanged();
  const [reason, setReason] = useState(first);
  const save = useMutation({
    mutationFn: () =>
      got(
        api.POST('/api/methods/{id}/versions', {
          params: { path: { id: method.id } },
          body: { source, base_version: base, reason },
        }),
      ),
    async onSuccess({ version_id, created, warnings }) {
      const noted =
        warnings.length === 0 ? '' : ` With ${warnings.length === 1 ? 'one warning' : `${warnings.length} warnings`}.`;
      showToast({
        text: created
          ? `Saved as ${shortVersion(version_id)}.${noted} Runs get it once it is published.`
          : 'The newest version has this text already.',
        action: <PageLink to={`/methods/${method.id}/versions`}>Versions</PageLink>,
      });
      onClose();
      onSaved(version_id);
      await changed();
    },
    onError(error) {
      if (!isFailure(error, 'version_conflict')) return;
      const { current_version: current } = error.body;
      if (typeof current !== 'string') return;
      onClose();
      onConflict(current);
    },
  });
  const { error } = save;
  return (
    <Modal opened onClose={onClose} title="Save as new version" closeOnClickOutside={!save.isPending}>
      <form
        className={classes.form}
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          if (!save.isPending) save.mutate();
        }}
      >
        <Textarea
          label="Why"
          description="For those who read the list of versions."
          size="sm"
          autosize
          minRows={2}
          maxRows={8}
          maxLength={REASON_CHARACTERS_MAX}
          data-autofocus
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        {error !== null && !isFailure(error, 'version_conflict') && (
          <div role="alert" className={classes.wrong}>
            {error.message} <RequestId error={error} />
            {isFailure(error, 'invalid_method') && (
              <ul>
                {error.details.slice(0, 5).map(({ code, message }) => (
                  <li key={code + message}>
                    {code} {message}
                  </li>
                ))}
              </ul>
            )}
          </div>
        )}
        <div className={classes.buttons}>
          <Button variant="default" size="xs" onClick={onClose} disabled={save.isPending}>
            Back
          </Button>
          <Button type="submit" size="xs" loading={save.isPending}>
            Save
          </Button>
        </div>
      </form>
    </Modal>
  );
}
