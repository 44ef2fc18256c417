// The end of a step's log: searched, wrapped or not, with the colours that terminals show.
import { Checkbox, TextInput } from '@mantine/core';
import { useDeferredValue, useMemo, useState } from 'react';
import { HostileText } from '../../design/hostile-text.tsx';
import { Panel } from '../../design/panel.tsx';
import { linesWith, logLines } from './log-text.ts';
import classes from './run.module.css';
import { useValue, type WholeRun } from './run-reads.ts';
import { ValueDownload } from './stored-value.tsx';

export function LogView({ run, step }: { readonly run: WholeRun; readonly step: string }) {
  const log = useValue(run.run_id, 'log', step);
  const [wanted, setWanted] = useState('');
  const [wraps, setWraps] = useState(true);
  const text = log.data?.pages.map((page) => page.text).join('') ?? '';
  const isSealed = log.data?.pages[0]?.sealed === true;
  const lines = useMemo(() => logLines(text.replace(/\r?\n$/, '')), [text]);
  const shown = linesWith(lines, useDeferredValue(wanted));
  return (
    <Panel query={log} what="Log" rows={3}>
      {() =>
        isSealed ? (
          <p className={classes.quiet}>Sealed: the content of this run is kept on devices.</p>
        ) : (
          <div className={classes.value}>
            <div className={classes.valueHead}>
              <TextInput
                size="xs"
                aria-label="Search the log"
                placeholder="Search"
                maxLength={200}
                value={wanted}
                onChange={(event) => setWanted(event.currentTarget.value)}
              />
              <span className={classes.quiet} role="status">
                {shown.length === lines.length ? `${lines.length} lines` : `${shown.length} of ${lines.length} lines`}
              </span>
              <Checkbox size="xs" label="Wrap" checked={wraps} onChange={() => setWraps(!wraps)} />
              <ValueDownload run={run} of="log" step={step} />
            </div>
            <pre className={classes.text} data-wraps={wraps} tabIndex={0}>
              {shown.map(({ number, parts }) => (
                <div key={number} className={classes.logLine}>
                  <span className={classes.lineNumber}>{number}</span>
                  <span>
                    {parts.map((part, at) => (
                      <span key={at} data-colour={part.colour ?? undefined} data-bold={part.isBold || undefined}>
                        <HostileText text={part.text} max={4_096} />
                      </span>
                    ))}
                  </span>
                </div>
              ))}
            </pre>
          </div>
        )
      }
    </Panel>
  );
}
