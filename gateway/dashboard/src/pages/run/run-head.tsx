// The head of a run: its state, version, times and starter, its error, and why it does not move.
import { shortVersion } from '../../api/method-reads.ts';
import { startCommand } from '../../api/start-command.ts';
import { Command } from '../../design/command.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { HostileText } from '../../design/hostile-text.tsx';
import { type ShownStatus, StatusBadge } from '../../design/status-badge.tsx';
import { PageLink } from '../../frame/page-link.tsx';
import { partyName } from '../../question/questions.ts';
import { Duration, Time } from '../../time/time.tsx';
import { pendingWords } from './pending-words.ts';
import { Reruns } from './reruns.tsx';
import classes from './run.module.css';
import type { RunTabProps } from './run-page.tsx';
import type { WholeRun } from './run-reads.ts';

export function RunHead({ run }: RunTabProps) {
  const { timing, attempts, started_by: by } = run;
  return (
    <section className={classes.head} aria-label="About this run">
      <p className={classes.facts}>
        <StatusBadge status={shownStatus(run)} />
        <Total run={run} />
        <PageLink to={`/methods/${run.method.replace(/^wf_/, '')}/source`} search={{ version: run.version_id }}>
          version {shortVersion(run.version_id)}
        </PageLink>
        {attempts > 1 && (
          <span>
            attempt {attempts} of {run.max_attempts}
          </span>
        )}
        {by !== undefined && (
          <span>
            started by <Starter by={by} />
          </span>
        )}
        <span>
          <Time at={timing.created_at} />
        </span>
        {run.run_data === 'device' && <span>content on devices</span>}
        <span className={classes.id}>
          <code>{run.run_id}</code>
          <CopyButton text={run.run_id} what="the run’s id" />
        </span>
      </p>
      <Chips metadata={run.metadata} />
      <Reruns run={run} />
      <Fault run={run} />
      {run.pending !== undefined && <PendingNote run={run} pending={run.pending} />}
    </section>
  );
}

function Starter({ by }: { readonly by: NonNullable<WholeRun['started_by']> | null }) {
  const name = <HostileText text={partyName(by)} max={80} />;
  return by?.id ? (
    <PageLink to="/" search={{ started_by: by.id }}>
      {name}
    </PageLink>
  ) : (
    name
  );
}

function shownStatus(run: Pick<WholeRun, 'status' | 'queued_reason'>): ShownStatus {
  return run.queued_reason === 'sleeping' ? 'asleep' : run.status;
}

function Total({ run: { timing } }: RunTabProps) {
  const createdMs = Date.parse(timing.created_at);
  return (
    <span title="From its start to its end">
      {timing.finished_at === null ? (
        <Duration ms={0} sinceMs={createdMs} />
      ) : (
        <Duration ms={Date.parse(timing.finished_at) - createdMs} />
      )}
    </span>
  );
}

function Chips({ metadata }: Pick<WholeRun, 'metadata'>) {
  const pairs = Object.entries(metadata);
  if (pairs.length === 0) return null;
  return (
    <p className={classes.chips}>
      {pairs.map(([key, value]) => (
        <PageLink key={key} to="/" search={{ [`metadata.${key}`]: value }} className={classes.chip}>
          <HostileText text={`${key}=${value}`} max={60} />
        </PageLink>
      ))}
    </p>
  );
}

function Fault({ run }: RunTabProps) {
  const fault = run.error ?? run.ending;
  if (fault === undefined) return null;
  const { step, code, message } = fault;
  return (
    <div className={classes.fault} role="status">
      <p>
        <strong>{run.error === undefined ? 'It has failed, and cleans up' : 'It failed'}</strong>
        {step !== undefined && (
          <>
            {' in step '}
            <PageLink to={`/runs/${run.run_id}`} search={{ step }}>
              <HostileText text={step} max={120} />
            </PageLink>
          </>
        )}
        <span className={classes.quiet}> {code}</span>
      </p>
      {fault.sealed === undefined ? (
        message !== undefined &&
        message !== '' && (
          <p className={classes.message}>
            <HostileText text={message} max={2_000} lines />
          </p>
        )
      ) : (
        <p className={classes.quiet}>Its message is sealed: the content of this run is kept on devices.</p>
      )}
    </div>
  );
}

function PendingNote({ run, pending }: { readonly run: WholeRun; readonly pending: NonNullable<WholeRun['pending']> }) {
  const { text, until, help } = pendingWords(pending);
  const questionId = pending.detail.question_id;
  const step = run.question?.step;
  return (
    <div className={classes.pending} role="status">
      <p>
        <HostileText text={text} max={600} />
        {pending.since !== null && (
          <>
            {' Since '}
            <Time at={pending.since} />
            {until === null ? '.' : ', '}
          </>
        )}
        {until !== null && (
          <>
            {until.words} <Time at={until.at} /> (<Time at={until.at} as="ago" />
            ).
          </>
        )}
        {help === 'answer' && run.run_data === 'account' && step !== undefined && questionId !== undefined && (
          <PageLink to={`/runs/${run.run_id}`} search={{ step }} className={classes.act}>
            Look and answer
          </PageLink>
        )}
      </p>
      {help === 'start_worker' && <Command text={startCommand(window.location.origin, run.method)} />}
      {help === 'answer' && run.run_data === 'device' && <Command text={`npx methods answer ${run.run_id}`} />}
    </div>
  );
}
