// Chooses who is notified of an event: the application through its webhook, the people who answer, both or neither.
import type { Question, RunChange, RunEvent } from './run-event.ts';

export interface Told {
  /** Through the run's webhook; only endpoints of the organization are reminded. */
  readonly application: boolean;
  /** Only of questions that people answer: those for the team, and those that no program may answer. */
  readonly team: boolean;
}

/** With both a webhook and the team both are notified, and the first answer wins. */
export function chooseAnswerer({ webhookUrl, answerBy, change }: RunEvent): Told {
  return {
    application: webhookUrl !== '' && !change.event.startsWith('question.'),
    team: 'question' in change && isForPeople(change, answerBy),
  };
}

function isForPeople(change: RunChange & { readonly question: Question }, answerBy: RunEvent['answerBy']): boolean {
  // It is escalated and assigned to people in any case.
  if (change.event === 'question.escalated' || change.event === 'question.assigned') return true;
  return answerBy === 'team' || (change.question.rules?.forPeople ?? false);
}
