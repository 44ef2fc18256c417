// What can be done with the selected runs, or with all that match: counted first, confirmed in numbers, followed to its
// end on a page of its own.
import { Button, Menu } from '@mantine/core';
import { useState } from 'react';
import { got } from '../../api/client.ts';
import { useApi } from '../../api/use-api.ts';
import { ConfirmInNumbers } from '../../design/confirm-in-numbers.tsx';
import { useGo } from '../../frame/navigate.ts';
import { showFailure } from '../../frame/toast-list.ts';
import { actWords, type Bulk, type BulkAction, type BulkFilter, passedOverWords } from '../bulk/bulk.ts';
import classes from './run-list.module.css';

interface BulkBarProps {
  readonly ids: ReadonlySet<string>;
  /** Of the list, for "all matching". */
  readonly filter: () => BulkFilter;
  readonly onClear: () => void;
}

const IDS_MAX = 1_000;

export function BulkBar({ ids, filter, onClear }: BulkBarProps) {
  const { api } = useApi();
  const go = useGo();
  const [all, setAll] = useState(false);
  const [prepared, setPrepared] = useState<Bulk | null>(null);
  const [counting, setCounting] = useState<BulkAction | null>(null);
  const prepare = async (action: BulkAction) => {
    setCounting(action);
    try {
      const runs = all ? { filter: filter() } : { run_ids: [...ids].slice(0, IDS_MAX) };
      const { bulk } = await got(api.POST('/api/bulk', { body: { action, ...runs } }));
      setPrepared(bulk);
    } catch (error) {
      showFailure('The count', error);
    } finally {
      setCounting(null);
    }
  };
  const total = prepared?.counts.total ?? 0;
  return (
    <section className={classes.selected} aria-label="Selected runs">
      <strong className="numbers">{all ? 'All matching runs' : `${ids.size.toLocaleString('en')} selected`}</strong>
      <Button variant="subtle" size="compact-xs" onClick={() => setAll(!all)}>
        {all ? `Only the ${ids.size} selected` : 'Select all matching'}
      </Button>
      <Button variant="default" loading={counting === 'cancel'} onClick={() => void prepare('cancel')}>
        Cancel…
      </Button>
      <Menu position="top">
        <Menu.Target>
          <Button variant="default" loading={counting !== null && counting !== 'cancel'}>
            Rerun…
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => void prepare('rerun')}>From the start</Menu.Item>
          <Menu.Item onClick={() => void prepare('rerun_failed_step')}>Failed ones, from the failed step</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Button variant="subtle" size="compact-xs" color="gray" onClick={onClear}>
        Clear
      </Button>
      {prepared !== null && (
        <ConfirmInNumbers
          isOpen
          act={actWords(prepared.action, total)}
          isReady={total > 0}
          isDangerous={prepared.action === 'cancel'}
          onClose={() => setPrepared(null)}
          onConfirm={async () => {
            await got(api.POST('/api/bulk/{id}/start', { params: { path: { id: prepared.id } } }));
            onClear();
            go(`/bulk/${prepared.id}`);
          }}
        >
          {total === 0 && <p>None of these runs can be changed so.</p>}
          {prepared.passed_over.length > 0 && (
            <ul>
              {prepared.passed_over.map(({ reason, count }) => (
                <li key={reason}>{passedOverWords(reason, count)}</li>
              ))}
            </ul>
          )}
          {prepared.more && <p>More runs match than one change takes: these are the newest.</p>}
          {total > 0 && (
            <p>These runs were fixed just now; later ones are not changed. You can leave the page meanwhile.</p>
          )}
        </ConfirmInNumbers>
      )}
    </section>
  );
}
