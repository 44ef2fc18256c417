// Chooses who is notified of an event: the application through its webhook, the team, both or neither.
import type { RunEvent } from './run-event.ts';

export interface Told {
  /** Through the run's webhook; only endpoints of the organization are reminded. */
  readonly application: boolean;
  /** Only of questions, and only when the team answers. */
  readonly team: boolean;
}

/** With both a webhook and the team both are notified, and the first answer wins. */
export function chooseAnswerer(event: RunEvent): Told {
  return {
    application: event.webhookUrl !== '' && !event.change.event.startsWith('question.'),
    team: event.change.event === 'needs_input' && event.answerBy === 'team',
  };
}
