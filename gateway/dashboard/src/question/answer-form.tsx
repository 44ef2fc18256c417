// The form of an open question. Nothing is chosen at first, and keys count only after a moment: the one that sent the
// answer before must not answer this question too.
import { Button, Textarea } from '@mantine/core';
import { answerSentence } from '@methods/form/answer-words';
import { readForm } from '@methods/form/field';
import { pointer } from '@methods/form/typed-values';
import type { JsonSchema } from '@methods/method/json';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useEffect, useMemo, useRef, useState } from 'react';
import { got } from '../api/client.ts';
import { isFailure } from '../api/failure.ts';
import { useApi } from '../api/use-api.ts';
import { RequestId } from '../design/panel.tsx';
import { choicesOf, FormFields, isChosen } from '../form/form-fields.tsx';
import { type TypedForm, useTypedForm } from '../form/typed-form.ts';
import { PageLink } from '../frame/page-link.tsx';
import { showToast } from '../frame/toast-list.ts';
import { singleKeysAct } from '../keyboard/single-keys.ts';
import classes from './question.module.css';
import type { OpenQuestion, WholeQuestion } from './questions.ts';

const IGNORED_MS = 400;
const COMMENT_CHARACTERS_MAX = 2_000;

interface AnswerFormProps {
  readonly question: WholeQuestion;
  readonly content: OpenQuestion;
  readonly onAnswered: (questionId: string) => void;
  /** The question is read again: another answer came first, or this one may have arrived without a reply. */
  readonly onInDoubt: () => void;
}

export function AnswerForm({ question, content, onAnswered, onInDoubt }: AnswerFormProps) {
  const { org, api } = useApi();
  const queryClient = useQueryClient();
  // A reply that comes again has the same form.
  const formJson = JSON.stringify(content.form);
  const schema = useMemo(() => readForm(JSON.parse(formJson) as JsonSchema), [formJson]);
  const form = useTypedForm(schema);
  const [comment, setComment] = useState('');
  const [raced, setRaced] = useState(false);
  const element = useRef<HTMLFormElement>(null);
  const { id } = question;

  const answer = useMutation({
    mutationFn: (given: object) =>
      got(
        api.POST('/api/questions/{id}/answer', {
          params: { path: { id } },
          body: { answer: given as Record<string, never>, ...(comment.trim() !== '' && { comment }) },
        }),
      ),
    onSuccess(run, given) {
      const words = answerSentence(schema, given as Record<string, never>);
      const stays = run.status === 'waiting' && run.question?.id === id;
      showToast({
        text: stays
          ? `Your answer is kept: ${words}. The question stays open until enough people agree.`
          : `Sent: ${words}`,
        action: <PageLink to={`/runs/${run.run_id}`}>Run</PageLink>,
      });
      void queryClient.invalidateQueries({ queryKey: [org, 'questions'] });
      onAnswered(id);
    },
    onError(error) {
      if (isFailure(error, 'invalid_answer')) {
        form.refuse(new Map(error.details.map(({ path, message }) => [path, message])));
      } else if (isFailure(error) && (error.status === 409 || error.status === 403)) {
        setRaced(true);
        onInDoubt();
      } else if (isUnknown(error)) {
        onInDoubt();
      }
    },
  });
  const send = () => {
    if (answer.isPending) return;
    const read = form.read();
    if (read === null) return;
    answer.mutate(read.answer);
  };

  // The first control with a fault takes the focus.
  useEffect(() => {
    const [first] = form.faults.keys();
    if (first === undefined) return;
    const part = element.current?.querySelector<HTMLElement>(`[data-at="${CSS.escape(first)}"]`);
    (part?.matches('input, textarea, select')
      ? part
      : part?.querySelector<HTMLElement>('input, textarea, select')
    )?.focus();
  }, [form.faults]);
  useAnswerKeys(form, send);

  const failure = answer.error;
  const isShown = failure !== null && !isFailure(failure, 'invalid_answer') && !raced;
  return (
    <form
      ref={element}
      className={classes.form}
      aria-label="Answer"
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        send();
      }}
    >
      {raced && (
        <div className={classes.notice} role="alert">
          <strong>Your answer was not used.</strong> {failure?.message}
        </div>
      )}
      <FormFields form={form} disabled={answer.isPending} />
      <Textarea
        label="Comment"
        description="For those who read the run later."
        size="sm"
        autosize
        minRows={2}
        maxRows={8}
        maxLength={COMMENT_CHARACTERS_MAX}
        value={comment}
        disabled={answer.isPending}
        onChange={(event) => setComment(event.currentTarget.value)}
      />
      {isShown && (
        <p role="alert" className={classes.failed}>
          {isUnknown(failure)
            ? 'It is not known whether your answer arrived. Send it again: it counts once.'
            : 'The answer could not be sent.'}{' '}
          {failure.message} <RequestId error={failure} />
        </p>
      )}
      <div className={classes.send}>
        <Button type="submit" size="sm" loading={answer.isPending}>
          Send answer
        </Button>
        <span className={classes.quiet}>Ctrl Enter. This cannot be undone.</span>
      </div>
    </form>
  );
}

/** Without the reply of the server that decides, the answer may count. */
function isUnknown(error: Error): boolean {
  return isFailure(error) && (error.status === 0 || error.status >= 500 || error.code === 'not_json');
}

/** `1` to `9` choose in the first field with choices, Ctrl or Cmd with Enter sends. */
function useAnswerKeys(form: TypedForm, send: () => void): void {
  const openedMs = useRef(performance.now());
  const latest = useRef({ form, send });
  latest.current = { form, send };
  useEffect(() => {
    const panes = document.querySelector('[data-inbox]');
    const onKeyDown = (event: Event) => {
      const key = event as KeyboardEvent;
      if (key.defaultPrevented || key.isComposing) return;
      const isSend = key.key === 'Enter' && (key.ctrlKey || key.metaKey);
      const isNumber = /^[1-9]$/.test(key.key) && !key.ctrlKey && !key.metaKey && !key.altKey;
      if (!isSend && !(isNumber && singleKeysAct() && !isTyping(key.target))) return;
      key.preventDefault();
      if (performance.now() - openedMs.current < IGNORED_MS || key.repeat) return;
      if (isSend) latest.current.send();
      else choose(latest.current.form, Number(key.key) - 1);
    };
    panes?.addEventListener('keydown', onKeyDown);
    return () => panes?.removeEventListener('keydown', onKeyDown);
  }, []);
}

function isTyping(target: EventTarget | null): boolean {
  const control = (target as HTMLElement | null)?.closest('input, textarea, select');
  return control !== null && control !== undefined && !control.matches('[type="radio"], [type="checkbox"]');
}

function choose(form: TypedForm, index: number): void {
  const field = form.form.fields.find(isChosen);
  const choice = field === undefined ? undefined : choicesOf(field)[index];
  if (field !== undefined && choice !== undefined) form.change(pointer('', field.name), [JSON.stringify(choice)]);
}
