// What has happened to a question: who was asked, to whom it was given, the answers so far, and its end.
import type { ReactNode } from 'react';
import { HostileText } from '../design/hostile-text.tsx';
import { Time } from '../time/time.tsx';
import classes from './question.module.css';
import { answerWords } from './question-end.tsx';
import { channelWords, contentOf, partyName, type WholeQuestion } from './questions.ts';

interface HistoryLine {
  readonly at: string | null;
  readonly text: ReactNode;
  readonly comment?: string | undefined;
}

const LINES_MAX = 100;

export function QuestionHistory({ question }: { readonly question: WholeQuestion }) {
  const lines = linesOf(question).slice(0, LINES_MAX);
  return (
    <section className={classes.history}>
      <h3>History</h3>
      <ol>
        {lines.map(({ at, text, comment }, index) => (
          <li key={index}>
            <Time at={at} />
            <span>
              {text}
              {comment !== undefined && (
                <q className={classes.said}>
                  <HostileText text={comment} lines />
                </q>
              )}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function linesOf(question: WholeQuestion): HistoryLine[] {
  const content = contentOf(question);
  const { starter, asked_at, receipt, state, closed_at } = question;
  const by = starter === null ? '' : ` by a run of ${partyName(starter)}`;
  const to = content?.to === undefined ? '' : `, of ${content.to.join(', ')}`;
  const lines: HistoryLine[] = [{ at: asked_at, text: <bdi>{`Asked${by}${to}.`}</bdi> }];
  if (content?.escalated !== undefined) {
    lines.push({ at: content.escalated.at, text: <bdi>{`Escalated to ${content.escalated.to.join(', ')}.`}</bdi> });
  }
  for (const { from, to: other, at } of content?.delegations ?? []) {
    lines.push({ at, text: <bdi>{`${partyName(from)} let ${partyName(other)} answer.`}</bdi> });
  }
  for (const vote of receipt?.votes ?? content?.votes ?? []) {
    const words = answerWords(question, vote.answer);
    const text = (
      <bdi>{`${partyName(vote.by)} answered${words === null ? '' : `: ${words}`} ${channelWords(vote.channel)}.`}</bdi>
    );
    lines.push({ at: vote.at, text, comment: vote.comment });
  }
  if (receipt !== undefined) lines.push({ at: receipt.answered_at, text: 'Decided.' });
  else if (state !== 'open')
    lines.push({ at: closed_at ?? null, text: state === 'expired' ? 'Closed at its deadline.' : 'Closed.' });
  return lines.sort((a, b) => ((a.at ?? '') < (b.at ?? '') ? -1 : 1));
}
