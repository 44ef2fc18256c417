// Why a run does not move: one sentence that says since when, and what would move it. Pure.
import type { WholeRun } from './run-reads.ts';

export type Pending = NonNullable<WholeRun['pending']>;

export interface PendingWords {
  readonly text: string;
  /** When it moves by itself at the latest; null: unknown, or never. */
  readonly until: { readonly words: string; readonly at: string } | null;
  /** What the reader can do. */
  readonly help: 'start_worker' | 'answer' | null;
}

export function pendingWords({ reason, detail }: Pending): PendingWords {
  switch (reason) {
    case 'no_worker':
      return words('No worker is connected that runs this method.', null, 'start_worker');
    case 'feature_missing':
      return words(`No connected worker has what it needs: ${listed(detail.needs)}.`, null, 'start_worker');
    case 'key_missing':
      return words('No connected worker has the content key that sealed it.', null, 'start_worker');
    case 'in_queue':
      return words(queueText(detail));
    case 'sleeping': {
      const step = detail.step === undefined ? '' : `Step ${detail.step} `;
      return words(
        `${step === '' ? 'It sleeps' : `${step}sleeps`} and continues by itself.`,
        time('until', detail.until),
      );
    }
    case 'question':
      return words(questionText(detail), time('due', detail.due_at), 'answer');
    case 'cancelling':
      return words('Cancel requested: its worker has not confirmed yet.');
  }
}

function words(text: string, until: PendingWords['until'] = null, help: PendingWords['help'] = null): PendingWords {
  return { text, until, help };
}

function queueText({ ahead, ahead_more: more, attempts = 0, max_attempts: max = 0 }: Pending['detail']): string {
  const again = attempts > 0 ? ` It has begun before: attempt ${attempts + 1} of ${max} is next.` : '';
  if (ahead === undefined || ahead === 0) return `It is the next one in its queue, and waits for a free place.${again}`;
  const count = `${ahead.toLocaleString('en')}${more === true ? ' or more' : ''}`;
  return `${count} ${ahead === 1 && more !== true ? 'run is' : 'runs are'} ahead of it in its queue.${again}`;
}

function questionText({ assignee, to = [], votes_given: given = 0, needs }: Pending['detail']): string {
  const whose = assignee ? `the answer of ${assignee}` : to.length > 0 ? `an answer of ${to.join(', ')}` : 'an answer';
  const count = Number((needs as { count?: number } | undefined)?.count ?? 0);
  const votes = count > 1 ? ` ${given} of ${count} answers are given.` : '';
  return `It waits for ${whose}.${votes}`;
}

function time(what: string, at: string | null | undefined): PendingWords['until'] {
  return at ? { words: what, at } : null;
}

function listed(needs: unknown): string {
  return Array.isArray(needs) && needs.length > 0 ? needs.join(', ') : 'a feature';
}
