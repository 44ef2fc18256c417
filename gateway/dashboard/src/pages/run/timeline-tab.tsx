// Timeline: the steps of the run over time, filtered by name and status, and beside them the step one has selected.
import { Checkbox, NativeSelect, TextInput } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useDeferredValue, useMemo, useState } from 'react';
import { Empty } from '../../design/empty.tsx';
import { Panel } from '../../design/panel.tsx';
import { StatusIcon } from '../../design/status-badge.tsx';
import { useSearchState } from '../../frame/navigate.ts';
import type { RunTabProps } from './run-page.tsx';
import { type Step, useRounds, useSteps } from './run-reads.ts';
import { RunResult } from './run-result.tsx';
import { StepPane } from './step-pane.tsx';
import { type StepRow, stepRows } from './step-tree.ts';
import classes from './timeline.module.css';
import { TimelineRows } from './timeline-rows.tsx';

const STATUSES = ['pending', 'running', 'waiting', 'succeeded', 'failed', 'skipped', 'cancelled'] as const;

export function TimelineTab({ run }: RunTabProps) {
  const [search, change] = useSearchState();
  const isPhone = useMediaQuery('(max-width: 900px)', false, { getInitialValueInEffect: false });
  const name = useDeferredValue(search.q ?? '');
  const status = STATUSES.find((each) => each === search.steps) ?? '';
  const steps = useSteps(run.run_id, { name, status });
  const open = useMemo(() => (search.open === undefined ? [] : search.open.split('\n').slice(0, 20)), [search.open]);
  const rounds = useRounds(run.run_id, open);
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const listed = useMemo(() => steps.data?.pages.flatMap(({ items }) => items) ?? [], [steps.data]);
  const roundsKey = [...rounds].map(([path, { length }]) => `${path} ${length}`).join('\n');
  // biome-ignore lint/correctness/useExhaustiveDependencies: the map is a new one each time
  const rows = useMemo(() => stepRows(listed, rounds, closed), [listed, closed, roundsKey, steps.dataUpdatedAt]);
  const selected = search.step ?? null;
  const counts = steps.data?.pages[0]?.counts ?? {};
  const failed = counts.failed ?? 0;
  const toggle = ({ step, isOpen }: StepRow<Step>) => {
    if (step.rounds !== undefined) {
      const next =
        isOpen || open.includes(step.name) ? open.filter((each) => each !== step.name) : [...open, step.name];
      change({ open: next.join('\n') || null }, false);
      return;
    }
    const next = new Set(closed);
    if (!next.delete(step.name)) next.add(step.name);
    setClosed(next);
  };
  const filters = (name === '' ? 0 : 1) + (status === '' ? 0 : 1);
  const isAlone = isPhone && selected !== null;
  const hasResult = selected === null && run.status === 'succeeded';
  return (
    <div className={classes.panes} data-with-step={selected !== null || hasResult}>
      {!isAlone && (
        <section className={classes.left} aria-label="Steps">
          <div className={classes.filters}>
            <TextInput
              size="xs"
              aria-label="Filter steps by name"
              placeholder="Filter steps"
              data-filter
              maxLength={200}
              value={search.q ?? ''}
              onChange={(event) => change({ q: event.currentTarget.value || null }, false)}
            />
            <NativeSelect
              size="xs"
              aria-label="Status of steps"
              value={status}
              onChange={(event) => change({ steps: event.currentTarget.value || null }, false)}
              data={[{ value: '', label: 'All statuses' }, ...STATUSES.map((each) => ({ value: each, label: each }))]}
            />
            {failed > 0 && status !== 'failed' && (
              <button type="button" className={classes.failedOnly} onClick={() => change({ steps: 'failed' })}>
                <StatusIcon status="failed" /> {failed.toLocaleString('en')} failed
              </button>
            )}
            <Checkbox
              size="xs"
              label="True scale"
              checked={search.scale === 'true'}
              onChange={(event) => change({ scale: event.currentTarget.checked ? 'true' : null }, false)}
            />
          </div>
          <Panel
            query={steps}
            what="Steps"
            isEmpty={({ pages }) => pages.every(({ items }) => items.length === 0)}
            empty={<Empty title="The run has no steps." />}
            filters={{ count: filters, onClear: () => change({ q: null, steps: null }) }}
          >
            {() => (
              <TimelineRows
                run={run}
                rows={rows}
                selected={selected}
                isScaled={search.scale === 'true'}
                onSelect={(step) => change({ step })}
                onToggle={toggle}
                onEnd={() => {
                  if (steps.hasNextPage && !steps.isFetchingNextPage) void steps.fetchNextPage();
                }}
              />
            )}
          </Panel>
        </section>
      )}
      {hasResult && (
        <section className={`${classes.right} ${classes.result}`} aria-label="Result">
          <h2 className={classes.title}>Result</h2>
          <RunResult run={run} />
        </section>
      )}
      {selected !== null && (
        <section className={classes.right} aria-label="Selected step">
          <StepPane
            key={selected}
            run={run}
            path={selected}
            known={rows.find(({ step }) => step.name === selected)?.step ?? null}
            onClose={() => change({ step: null })}
          />
        </section>
      )}
    </div>
  );
}
