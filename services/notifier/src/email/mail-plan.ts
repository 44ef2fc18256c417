// Plans the mail of an event: its recipients, and the texts that mails show. These are cut here, since each recipient's
// delivery has them.
import type { DeliveryId, QuestionId } from '@methods/base/ids';
import type { PlannedDelivery } from '../delivery/delivery.ts';
import { chooseAnswerer } from '../delivery/plan-delivery.ts';
import type { AssignedQuestion, Question, QuestionEvent, QuestionRules, RunEvent } from '../delivery/run-event.ts';
import { type Announcement, MAIL_HOST, type MailedPerson, type MailedQuestion, writeJob } from './mail-job.ts';
import { line, paragraph } from './shown-text.ts';

const TEXT_MAX = 2_000;
const SHOWN_MAX = 10;
const SHOWN_CHARACTERS_MAX = 300;
const NAMES_MAX = 50;
const NAME_CHARACTERS_MAX = 320;
const EXCEPT_MAX = 50;
const ASSIGNER_CHARACTERS_MAX = 80;

/** Null: the event asks no people. */
export function planMail(event: RunEvent, deliveryId: DeliveryId): PlannedDelivery | null {
  const { orgId, runId, seq, change, method, createdAtMs } = event;
  if (!('question' in change) || !chooseAnswerer(event).team) return null;
  const { question } = change;
  const { rules } = question;
  const body = writeJob({
    kind: 'announcement',
    ...asked(change),
    method,
    except: [...starter(event, rules), ...(rules?.voters ?? [])].slice(0, EXCEPT_MAX),
    question: mailed(event, question),
  });
  const mail = { url: MAIL_HOST, host: MAIL_HOST, kind: 'mail', endpointId: '', keyId: '' } as const;
  return { ...mail, orgId, deliveryId, runId, seq, event: change.event, body, createdAtMs };
}

/** Returns the recipients to request. */
function asked(
  change: AssignedQuestion | { readonly event: QuestionEvent; readonly question: Question },
): Pick<Announcement, 'event' | 'to' | 'also' | 'assignedBy'> {
  const { event, question } = change;
  const to = question.rules?.to ?? [];
  switch (event) {
    // A notifier of the previous release reads this job as that of a new question to that person. A word that is no
    // address finds no one, while no name at all would find the publisher.
    case 'question.assigned':
      return {
        event: 'needs_input',
        to: [change.to.email || '-'],
        assignedBy: line(change.by, ASSIGNER_CHARACTERS_MAX),
      };
    case 'question.escalated':
      return { event, to: names(question.rules?.escalateTo ?? []) };
    case 'question.reminded':
      return {
        event,
        to: names(to),
        also: names((question.delegates ?? []).map(({ email }) => email).filter(Boolean)),
      };
    case 'needs_input':
      return { event, to: names(to) };
  }
}

function names(named: readonly string[]): readonly string[] {
  return named.filter((name) => name.length <= NAME_CHARACTERS_MAX).slice(0, NAMES_MAX);
}

function starter({ starter: person }: RunEvent, rules: QuestionRules | undefined): readonly MailedPerson[] {
  return person === undefined || !rules?.notStarter ? [] : [person];
}

function mailed({ runId, onDevice }: RunEvent, question: Question): MailedQuestion {
  return {
    questionId: question.id as QuestionId,
    runId,
    prompt: paragraph(question.prompt, TEXT_MAX),
    details: paragraph(question.details, TEXT_MAX),
    show: question.show.slice(0, SHOWN_MAX).map(({ path, valueJson }) => ({
      path: line(path, SHOWN_CHARACTERS_MAX),
      text: line(shown(valueJson), SHOWN_CHARACTERS_MAX),
    })),
    deadlineAtMs: question.deadlineAtMs,
    answersItself: question.rules?.answersItself || question.answersItself === true,
    ...(onDevice && { onDevice }),
  };
}

/** Shows a text without its quotes, and anything else as JSON. A long value is not parsed. */
function shown(valueJson: string): string {
  if (!valueJson.startsWith('"') || valueJson.length > SHOWN_CHARACTERS_MAX * 6) return valueJson;
  try {
    return String(JSON.parse(valueJson));
  } catch {
    return valueJson;
  }
}
