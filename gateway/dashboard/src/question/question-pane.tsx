// One question: what is asked, what it is about, the form for those who may answer, and what has happened to it.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { got } from '../api/client.ts';
import { isFailure } from '../api/failure.ts';
import { useMethodName } from '../api/method-names.ts';
import { useApi } from '../api/use-api.ts';
import { Command } from '../design/command.tsx';
import { Empty } from '../design/empty.tsx';
import { HostileText } from '../design/hostile-text.tsx';
import { Panel } from '../design/panel.tsx';
import { PageLink } from '../frame/page-link.tsx';
import { Time } from '../time/time.tsx';
import { AnswerForm } from './answer-form.tsx';
import { Due } from './due.tsx';
import classes from './question.module.css';
import { QuestionEnd } from './question-end.tsx';
import { QuestionHistory } from './question-history.tsx';
import { QuestionOwner } from './question-owner.tsx';
import { contentOf, refusalWords, type WholeQuestion } from './questions.ts';
import { ShownValues } from './shown-values.tsx';

interface QuestionPaneProps {
  readonly questionId: string;
  /** The next one after an answer takes the focus, so that the keyboard's place is not lost. */
  readonly takesFocus: boolean;
  readonly onAnswered: (questionId: string) => void;
}

export function QuestionPane({ questionId, takesFocus, onAnswered }: QuestionPaneProps) {
  const { org, api } = useApi();
  const question = useQuery({
    queryKey: [org, 'questions', 'one', questionId],
    queryFn: ({ signal }) => got(api.GET('/api/questions/{id}', { params: { path: { id: questionId } }, signal })),
    meta: { staleOn: ['question'] },
  });
  if (isFailure(question.error, 'not_found')) {
    return <Empty title="This question is not in your organization.">It may have been deleted with its run.</Empty>;
  }
  return (
    <Panel query={question} what="Question" rows={6}>
      {(data) => <Question question={data} takesFocus={takesFocus} onAnswered={onAnswered} />}
    </Panel>
  );
}

interface QuestionProps extends Omit<QuestionPaneProps, 'questionId'> {
  readonly question: WholeQuestion;
}

function Question({ question, takesFocus, onAnswered }: QuestionProps) {
  const { org } = useApi();
  const queryClient = useQueryClient();
  const heading = useRef<HTMLHeadingElement>(null);
  const content = contentOf(question);
  const refusal = refusalWords(question);
  const isOpen = question.state === 'open';
  useEffect(() => {
    if (takesFocus) heading.current?.focus();
  }, [takesFocus]);
  // The form is gone, and with it what had the focus.
  useEffect(() => {
    if (!isOpen && (document.activeElement === document.body || document.activeElement === null))
      heading.current?.focus();
  }, [isOpen]);
  const refresh = () => queryClient.invalidateQueries({ queryKey: [org, 'questions'] });
  return (
    <article className={classes.question}>
      <About question={question} />
      <h2 ref={heading} tabIndex={-1} className={classes.asked}>
        {question.on_device ? (
          'A question waits'
        ) : (
          <HostileText text={content?.prompt || question.prompt || 'A question was asked'} max={1_000} />
        )}
      </h2>
      {content?.details !== undefined && (
        <div className={classes.details}>
          <HostileText text={content.details} max={8_000} lines />
        </div>
      )}
      {isOpen && !question.on_device && <QuestionOwner question={question} onChanged={refresh} />}
      {question.on_device && isOpen && <OnDevices runId={question.run_id} />}
      {refusal !== null && (
        <div className={classes.notice} role="status">
          <strong>You may not answer this question.</strong> {refusal}
        </div>
      )}
      {question.warnings?.map(({ code, message }) => (
        <p key={code} className={classes.warning}>
          {message}
        </p>
      ))}
      {content !== null && <ShownValues values={content.show} />}
      {isOpen && content !== null && refusal === null && !question.on_device && (
        <AnswerForm question={question} content={content} onAnswered={onAnswered} onInDoubt={refresh} />
      )}
      {!isOpen && <QuestionEnd question={question} />}
      <QuestionHistory question={question} />
    </article>
  );
}

function About({ question }: { readonly question: WholeQuestion }) {
  const nameOf = useMethodName();
  const { method, step, run_id, asked_at, deadline_at, state } = question;
  return (
    <p className={classes.head}>
      <PageLink to={`/methods/${method.replace(/^wf_/, '')}`}>{nameOf(method)}</PageLink>
      <span>
        step <bdi>{step}</bdi>
      </span>
      <PageLink to={`/runs/${run_id}`}>run …{run_id.slice(-8)}</PageLink>
      <span>
        asked <Time at={asked_at} as="ago" />
      </span>
      {deadline_at !== null && state === 'open' && (
        <span>
          <Due at={deadline_at} /> (<Time at={deadline_at} />)
        </span>
      )}
    </p>
  );
}

function OnDevices({ runId }: { readonly runId: string }) {
  return (
    <div className={classes.notice} role="status">
      <p>
        The content of this run is kept on your organization’s devices, so it is neither shown nor answered here. Answer
        it where the content key is:
      </p>
      <Command text={`npx methods answer ${runId}`} />
    </div>
  );
}
