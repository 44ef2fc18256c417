// A stored value: its first 16 KiB with the true size, then all of it, or a download. Large texts are laid out only where
// they are seen.
import { Button } from '@mantine/core';
import { useMemo } from 'react';
import { pathOf } from '../../api/client.ts';
import { useApi } from '../../api/use-api.ts';
import { CopyButton } from '../../design/copy-button.tsx';
import { Panel } from '../../design/panel.tsx';
import { LongText } from './long-text.tsx';
import classes from './run.module.css';
import { useValue, type WholeRun } from './run-reads.ts';

interface StoredValueProps {
  readonly run: WholeRun;
  readonly of: 'inputs' | 'result' | 'output';
  readonly step?: string;
}

const SHOWN_PARTS_MAX = 64;

export function StoredValue({ run, of, step }: StoredValueProps) {
  const value = useValue(run.run_id, of, step);
  return (
    <Panel query={value} what="Value" rows={3}>
      {({ pages }) => {
        const [first] = pages;
        if (first === undefined || first.bytes === 0) return <p className={classes.quiet}>There is none.</p>;
        if (first.withheld === true) return <p className={classes.quiet}>It holds a secret and was not stored.</p>;
        if (first.sealed === true) {
          return (
            <p className={classes.quiet}>Sealed, {size(first.bytes)}: the content of this run is kept on devices.</p>
          );
        }
        return (
          <Shown
            run={run}
            of={of}
            step={step}
            text={pages.map(({ text }) => text).join('')}
            bytes={first.bytes}
            isWhole={!value.hasNextPage}
            isLoading={value.isFetchingNextPage}
            onMore={async () => {
              for (let parts = pages.length; parts < SHOWN_PARTS_MAX; parts++) {
                const { hasNextPage, isError } = await value.fetchNextPage();
                if (!hasNextPage || isError) break;
              }
            }}
          />
        );
      }}
    </Panel>
  );
}

interface ShownProps extends Omit<StoredValueProps, 'step'> {
  readonly step: string | undefined;
  readonly text: string;
  readonly bytes: number;
  readonly isWhole: boolean;
  readonly isLoading: boolean;
  readonly onMore: () => Promise<void>;
}

function Shown({ run, of, step, text, bytes, isWhole, isLoading, onMore }: ShownProps) {
  const shown = useMemo(() => (isWhole ? indented(text) : text), [text, isWhole]);
  return (
    <div className={classes.value}>
      <div className={classes.valueHead}>
        <span className={classes.quiet}>
          {isWhole ? size(bytes) : `The first ${size(new TextEncoder().encode(text).length)} of ${size(bytes)}`}
        </span>
        {!isWhole && (
          <Button variant="default" size="compact-xs" loading={isLoading} onClick={() => void onMore()}>
            Show all
          </Button>
        )}
        {isWhole && bytes < 1_000_000 && <CopyButton text={text} what="the value" />}
        <ValueDownload run={run} of={of} step={step} />
      </div>
      <LongText json={shown} />
    </div>
  );
}

export function ValueDownload({
  run,
  of,
  step,
}: {
  readonly run: WholeRun;
  readonly of: string;
  readonly step: string | undefined;
}) {
  const { org } = useApi();
  const query = new URLSearchParams({ of, ...(step !== undefined && { step }) });
  return (
    <a href={`${pathOf(org)}/api/runs/${run.run_id}/values/download?${query}`} download>
      Download
    </a>
  );
}

/** Only where numbers stay what they were: a browser reads large ones inexactly. */
function indented(json: string): string {
  if (json.length > 200_000 || /\d{16}|\d[eE.]\d/.test(json)) return json;
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

function size(bytes: number): string {
  if (bytes < 1_024) return `${bytes} bytes`;
  const kib = bytes / 1_024;
  return kib < 1_024 ? `${kib.toFixed(kib < 10 ? 1 : 0)} KiB` : `${(kib / 1_024).toFixed(1)} MiB`;
}
