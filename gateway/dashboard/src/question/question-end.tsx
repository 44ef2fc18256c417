// How a question ended: its answer, by whom and how, or that none is needed any more.
import { answerSentence } from '@methods/form/answer-words';
import { readForm } from '@methods/form/field';
import { isJsonObject, type JsonSchema, type JsonValue } from '@methods/method/json';
import type { ReactNode } from 'react';
import { HostileText } from '../design/hostile-text.tsx';
import { Time } from '../time/time.tsx';
import classes from './question.module.css';
import { channelWords, contentOf, partyName, type WholeQuestion } from './questions.ts';

export function QuestionEnd({ question }: { readonly question: WholeQuestion }) {
  return (
    <div className={classes.notice} role="status">
      {endOf(question)}
    </div>
  );
}

function endOf(question: WholeQuestion): ReactNode {
  const { receipt, state, closed_at } = question;
  if (receipt !== undefined) {
    const { by, channel, answer, answered_at, comment } = receipt;
    const words = answerWords(question, answer);
    return (
      <>
        <strong>
          {channel === 'timeout'
            ? 'No one answered in time, and the method’s own answer counts'
            : `${partyName(by)} answered`}
          {words !== null && (
            <>
              : <HostileText text={words} max={200} />
            </>
          )}
        </strong>
        , <Time at={answered_at} />
        {channel !== 'timeout' && ` ${channelWords(channel)}`}.
        {comment !== undefined && (
          <q className={classes.said}>
            <HostileText text={comment} lines />
          </q>
        )}
      </>
    );
  }
  if (state === 'cancelled') return <strong>The run was cancelled. No answer is needed.</strong>;
  if (state === 'expired') {
    return (
      <strong>
        This question closed on <Time at={closed_at} /> without an answer.
      </strong>
    );
  }
  return <strong>This question is answered.</strong>;
}

/** Null: it is not kept, or not shown here. */
export function answerWords(question: WholeQuestion, answer: unknown): string | null {
  const value = answer as JsonValue | undefined;
  if (value === undefined || !isJsonObject(value) || '$sealed' in value) return null;
  return answerSentence(readForm((contentOf(question)?.form ?? {}) as JsonSchema), value);
}
