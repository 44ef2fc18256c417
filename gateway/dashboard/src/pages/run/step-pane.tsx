// One step of a run: its error with the line of the source, its question, checks, output and log.
import { Button } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { got } from '../../api/client.ts';
import { useApi } from '../../api/use-api.ts';
import { Empty } from '../../design/empty.tsx';
import { HostileText } from '../../design/hostile-text.tsx';
import { Skeleton } from '../../design/skeleton.tsx';
import { StatusBadge } from '../../design/status-badge.tsx';
import { PageLink } from '../../frame/page-link.tsx';
import { QuestionPane } from '../../question/question-pane.tsx';
import { useMay } from '../../session/viewer.tsx';
import { Duration, Time } from '../../time/time.tsx';
import { LogView } from './log-view.tsx';
import classes from './run.module.css';
import { isFinished } from './run-actions.tsx';
import type { RunTabProps } from './run-page.tsx';
import type { Step, WholeRun } from './run-reads.ts';
import { topLevelOf } from './step-tree.ts';
import { StoredValue } from './stored-value.tsx';

interface StepPaneProps extends RunTabProps {
  readonly path: string;
  /** The step, if the list has it already. */
  readonly known: Step | null;
  readonly onClose: () => void;
}

export function StepPane({ run, path, known, onClose }: StepPaneProps) {
  const { org, api } = useApi();
  // A link may name a step that the list does not show.
  const found = useQuery({
    queryKey: [org, 'run', run.run_id, 'step', path],
    queryFn: async ({ signal }) => {
      const query = { name: path.slice(0, 200), limit: 200 };
      const params = { path: { id: run.run_id }, query };
      const { items } = await got(api.GET('/api/runs/{id}/steps', { params, signal }));
      return items.find(({ name }) => name === path) ?? null;
    },
    enabled: known === null,
  });
  const step = known ?? found.data ?? null;
  const may = useMay('member');
  if (step === null) {
    return found.isPending ? (
      <Skeleton rows={4} what="Step" />
    ) : (
      <Empty title="The run has no such step.">
        <Button variant="default" size="xs" onClick={onClose}>
          Close
        </Button>
      </Empty>
    );
  }
  const { timing, kind, status, attempt } = step;
  const top = topLevelOf(path);
  return (
    <article className={classes.step}>
      <header className={classes.stepHead}>
        <h2>
          <HostileText text={path} max={300} />
        </h2>
        <Button variant="subtle" size="compact-xs" onClick={onClose}>
          Close
        </Button>
      </header>
      <p className={classes.facts}>
        <StatusBadge status={status} />
        <span>{kind}</span>
        {attempt > 1 && <span>attempt {attempt}</span>}
        {attempt === 0 && <span>kept from the run that this one repeats</span>}
        {timing.started_at !== null && (
          <>
            <span>
              began <Time at={timing.started_at} as="whole" />
            </span>
            <span>
              ran <Duration ms={timing.running_ms} />
            </span>
            {timing.waiting_ms > 0 && (
              <span>
                waited <Duration ms={timing.waiting_ms} />
              </span>
            )}
          </>
        )}
        {may && isFinished(run) && run.run_data === 'account' && !top.startsWith('@') && (
          <PageLink to={`/runs/${run.run_id}`} search={{ step: path, rerun: 'yes', from: top }} className={classes.act}>
            Run again from {top === path ? 'here' : top}
          </PageLink>
        )}
      </p>
      {step.error !== undefined && <StepError run={run} error={step.error} />}
      {kind === 'ask' && <StepQuestions run={run} step={step} />}
      {step.checks.length > 0 && <Checks checks={step.checks} />}
      {(step.output_bytes > 0 || step.output_withheld === true) && (
        <section>
          <h3>Output</h3>
          <StoredValue run={run} of="output" step={path} />
        </section>
      )}
      {step.log_bytes > 0 && (
        <section>
          <h3>Log</h3>
          <LogView run={run} step={path} />
        </section>
      )}
    </article>
  );
}

function StepError({ run, error }: { readonly run: WholeRun; readonly error: NonNullable<Step['error']> }) {
  const { kind, message, line, status, reason, headers, body, sealed } = error;
  return (
    <section className={classes.fault} aria-label="Error">
      <p>
        <strong>
          <HostileText text={kind} max={200} />
        </strong>
        {status !== undefined && (
          <>
            {' HTTP '}
            <HostileText text={[status, reason].filter(Boolean).join(' ')} max={200} />
          </>
        )}
        {line !== undefined && (
          <PageLink to={`/runs/${run.run_id}`} search={{ tab: 'source', line: String(line) }}>
            {' '}
            line {line}
          </PageLink>
        )}
      </p>
      {sealed === undefined ? (
        <p className={classes.message}>
          <HostileText text={message} max={8_000} lines />
        </p>
      ) : (
        <p className={classes.quiet}>Its message is sealed.</p>
      )}
      {headers !== undefined && (
        <dl className={classes.pairs}>
          {Object.entries(headers).map(([name, value]) => (
            <div key={name}>
              <dt>
                <HostileText text={name} max={200} />
              </dt>
              <dd>
                <HostileText text={value} max={500} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      {body !== undefined && body !== '' && (
        <pre className={classes.body}>
          <HostileText text={body} max={1_100} lines />
        </pre>
      )}
    </section>
  );
}

function Checks({ checks }: { readonly checks: Step['checks'] }) {
  return (
    <section>
      <h3>Checks</h3>
      <ul className={classes.checks}>
        {checks.map(({ name, phase, status, message, sealed }, at) => (
          <li key={at} data-status={status}>
            <span>
              <strong>{status === 'passed' ? 'Passed' : status === 'warned' ? 'Warned' : 'Failed'}</strong>{' '}
              <HostileText text={name} max={200} /> <span className={classes.quiet}>{phase}</span>
            </span>
            {sealed === undefined ? (
              message !== '' && <HostileText text={message} max={2_000} lines />
            ) : (
              <span className={classes.quiet}>Its message is sealed.</span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** All questions of the step: a misfit answer, or a loop, asks again. */
function StepQuestions({ run, step }: { readonly run: WholeRun; readonly step: Step }) {
  const { org, api } = useApi();
  const questions = useInfiniteQuery({
    queryKey: [org, 'run', run.run_id, 'questions'],
    queryFn: ({ pageParam, signal }) =>
      got(
        api.GET('/api/runs/{id}/questions', {
          params: { path: { id: run.run_id }, query: { limit: 50, ...(pageParam && { cursor: pageParam }) } },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
  const own = questions.data?.pages.flatMap(({ items }) => items).filter((each) => each.step === step.name) ?? [];
  if (questions.isPending) return <Skeleton rows={3} what="Question" />;
  return (
    <section aria-label="Question" data-inbox>
      {own.map(({ id }) => (
        <QuestionPane key={id} questionId={id} takesFocus={false} onAnswered={() => {}} />
      ))}
      {own.length === 0 && questions.hasNextPage && (
        <Button variant="default" size="xs" onClick={() => void questions.fetchNextPage()}>
          Look for its question
        </Button>
      )}
    </section>
  );
}
