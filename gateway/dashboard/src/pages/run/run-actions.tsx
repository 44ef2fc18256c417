// What can be done with a run: cancel it, run it again, and copy a start like its own.
import { Button, Menu } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { got, pathOf } from '../../api/client.ts';
import { useApi } from '../../api/use-api.ts';
import { ConfirmInNumbers } from '../../design/confirm-in-numbers.tsx';
import { Icon } from '../../design/icons.tsx';
import { useAction } from '../../frame/actions.ts';
import { useSearchState } from '../../frame/navigate.ts';
import { showToast } from '../../frame/toast-list.ts';
import { useMay } from '../../session/viewer.tsx';
import { RerunDialog } from './rerun-dialog.tsx';
import { curlStart, nodeStart, pythonStart, type StartToCopy } from './run-code.ts';
import type { RunTabProps } from './run-page.tsx';
import type { WholeRun } from './run-reads.ts';

const COPIED_BYTES_MAX = 65_536;

export function RunActions({ run }: RunTabProps) {
  const { org, api } = useApi();
  const queryClient = useQueryClient();
  const may = useMay('member');
  const [search, change] = useSearchState();
  const [isCancelling, setCancelling] = useState(false);
  const isOver = isFinished(run);
  const mayCancel = may && !isOver && run.cancel_requested !== true;
  const mayRerun = may && run.run_data === 'account';
  useAction(mayCancel ? 'Cancel this run' : null, () => setCancelling(true));
  useAction(mayRerun ? 'Run again' : null, () => change({ rerun: 'yes' }));
  const copy = async (write: (start: StartToCopy) => string) => {
    const inputsJson = run.run_data === 'device' ? null : await inputsOf();
    await navigator.clipboard.writeText(
      write({ server: window.location.origin, method: run.method, version: run.version_id, inputsJson }),
    );
    showToast({
      text: inputsJson === null ? 'Copied, without the inputs.' : 'Copied, with the inputs of this run.',
    });
  };
  const inputsOf = async () => {
    const query = { of: 'inputs', bytes: COPIED_BYTES_MAX } as const;
    const params = { path: { id: run.run_id }, query };
    const value = await got(api.GET('/api/runs/{id}/values', { params }));
    return value.next_offset === null ? value.text || '{}' : null;
  };
  return (
    <>
      {mayRerun && (
        <Button variant="default" size="xs" onClick={() => change({ rerun: 'yes' })}>
          Run again
        </Button>
      )}
      {mayCancel && (
        <Button variant="default" size="xs" onClick={() => setCancelling(true)}>
          Cancel
        </Button>
      )}
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <Button variant="default" size="xs" aria-label="More about this run" px={8}>
            <Icon name="more" />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => void copy(curlStart)}>Copy as curl</Menu.Item>
          <Menu.Item onClick={() => void copy(nodeStart)}>Copy as Node</Menu.Item>
          <Menu.Item onClick={() => void copy(pythonStart)}>Copy as Python</Menu.Item>
          <Menu.Item component="a" href={`${pathOf(org)}/api/runs/${run.run_id}`} target="_blank" rel="noreferrer">
            Raw JSON
          </Menu.Item>
          {run.run_data === 'account' && (
            <Menu.Item component="a" href={`${pathOf(org)}/api/runs/${run.run_id}/files`} download>
              Download its files
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <ConfirmInNumbers
        isOpen={isCancelling}
        onClose={() => setCancelling(false)}
        act="Cancel 1 run"
        onConfirm={async () => {
          await got(api.POST('/api/runs/{id}/cancel', { params: { path: { id: run.run_id } } }));
          showToast({ text: 'Cancel requested.' });
          await queryClient.invalidateQueries({ queryKey: [org, 'run', run.run_id] });
        }}
      >
        <p>Its worker is asked to stop. Steps that are done stay done.</p>
      </ConfirmInNumbers>
      {mayRerun && search.rerun !== undefined && (
        <RerunDialog
          run={run}
          fromStep={search.from ?? ''}
          onClose={() => change({ rerun: null, from: null }, false)}
        />
      )}
    </>
  );
}

export function isFinished({ status }: Pick<WholeRun, 'status'>): boolean {
  return status === 'succeeded' || status === 'failed' || status === 'cancelled';
}
