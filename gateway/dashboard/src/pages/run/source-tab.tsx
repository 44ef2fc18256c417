// Source: the exact version that the run used, with the result of each step beside its line, and the line of an error
// marked.
import { useEffect, useMemo, useRef } from 'react';
import { useVersion } from '../../api/method-reads.ts';
import { HostileText } from '../../design/hostile-text.tsx';
import { Panel } from '../../design/panel.tsx';
import { StatusIcon } from '../../design/status-badge.tsx';
import { useSearchState } from '../../frame/navigate.ts';
import { PageLink } from '../../frame/page-link.tsx';
import classes from './run.module.css';
import type { RunTabProps } from './run-page.tsx';
import { type Step, useSteps } from './run-reads.ts';
import { stepLines, withoutRounds } from './step-lines.ts';

export function SourceTab({ run }: RunTabProps) {
  const version = useVersion(run.method.replace(/^wf_/, ''), run.version_id);
  const steps = useSteps(run.run_id, { name: '', status: '' });
  const all = useMemo(() => steps.data?.pages.flatMap(({ items }) => items) ?? [], [steps.data]);
  return (
    <Panel query={version} what="Source">
      {({ source }) => <Lines run={run} source={source} steps={all} />}
    </Panel>
  );
}

interface LinesProps extends RunTabProps {
  readonly source: string;
  readonly steps: readonly Step[];
}

function Lines({ run, source, steps }: LinesProps) {
  const [search] = useSearchState();
  const marked = useRef<HTMLLIElement>(null);
  const asked = Number(search.line ?? 0);
  const lines = useMemo(() => source.split(/\r?\n/), [source]);
  const results = useMemo(() => resultsByLine(source, steps), [source, steps]);
  const faults = useMemo(
    () => new Set(steps.flatMap(({ error }) => (error?.line === undefined ? [] : [error.line]))),
    [steps],
  );
  useEffect(() => {
    if (asked > 0) marked.current?.scrollIntoView({ block: 'center' });
  }, [asked]);
  return (
    <ol className={classes.source} aria-label="Source of the version">
      {lines.map((text, at) => {
        const line = at + 1;
        const result = results.get(line);
        return (
          <li
            key={line}
            ref={line === asked ? marked : undefined}
            data-fault={faults.has(line) || undefined}
            data-asked={line === asked || undefined}
          >
            <span className={classes.lineNumber}>{line}</span>
            <code>
              <HostileText text={text === '' ? ' ' : text} max={2_000} />
            </code>
            {result !== undefined && (
              <span className={classes.results}>
                {[...result].map(([status, found]) => (
                  <PageLink key={status} to={`/runs/${run.run_id}`} search={{ step: found.first }}>
                    <StatusIcon status={status} size={12} /> {found.count > 1 ? `${found.count} ${status}` : status}
                  </PageLink>
                ))}
              </span>
            )}
          </li>
        );
      })}
    </ol>
  );
}

interface Found {
  count: number;
  /** The path of the first one. */
  readonly first: string;
}

function resultsByLine(source: string, steps: readonly Step[]): Map<number, Map<Step['status'], Found>> {
  const byPath = new Map<string, Map<Step['status'], Found>>();
  for (const { name, status } of steps) {
    // A round has no line of its own.
    if (name.endsWith(']')) continue;
    const path = withoutRounds(name);
    const results = byPath.get(path) ?? new Map<Step['status'], Found>();
    byPath.set(path, results);
    const found = results.get(status);
    if (found === undefined) results.set(status, { count: 1, first: name });
    else found.count++;
  }
  return new Map(
    stepLines(source).flatMap(({ line, path }) => {
      const results = byPath.get(path);
      return results === undefined ? [] : [[line, results] as const];
    }),
  );
}
