// Chooses who is notified of an event: the application through its webhook, the people who answer, both or neither.
import type { DeliveredChange, Question, RunEvent } from './run-event.ts';

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

function isForPeople(
  change: DeliveredChange & { readonly question: Question },
  answerBy: RunEvent['answerBy'],
): boolean {
  // It is escalated to people in any case.
  return answerBy === 'team' || (change.question.rules?.forPeople ?? false) || change.event === 'question.escalated';
}
