// Plans the mail of an event: whom it asks for, and the texts that mails will show. They are cut here, since the delivery
// of each recipient has them.
import type { DeliveryId, QuestionId } from '@methods/base/ids';
import { chooseAnswerer } from '../delivery/choose-answerer.ts';
import type { PlannedDelivery } from '../delivery/delivery.ts';
import type { DeliveredEvent, Question, QuestionRules } from '../delivery/run-event.ts';
import { MAIL_HOST, type MailedPerson, type MailedQuestion, writeJob } from './mail-job.ts';
import { line, paragraph } from './shown-text.ts';

const TEXT_MAX = 2_000;
const SHOWN_MAX = 10;
const SHOWN_CHARACTERS_MAX = 300;
const NAMES_MAX = 50;
const NAME_CHARACTERS_MAX = 320;
const EXCEPT_MAX = 50;

/** Null: the event asks no people. */
export function planMail(event: DeliveredEvent, deliveryId: DeliveryId): PlannedDelivery | null {
  const { orgId, runId, seq, change, method, createdAtMs } = event;
  if (!('question' in change) || !chooseAnswerer(event).team) return null;
  const { question } = change;
  const { rules } = question;
  const names = (change.event === 'question.escalated' ? rules?.escalateTo : rules?.to) ?? [];
  const body = writeJob({
    kind: 'announcement',
    event: change.event,
    method,
    to: names.filter((name) => name.length <= NAME_CHARACTERS_MAX).slice(0, NAMES_MAX),
    except: [...starter(event, rules), ...(rules?.voters ?? [])].slice(0, EXCEPT_MAX),
    question: mailed(event, question),
  });
  const mail = { url: MAIL_HOST, host: MAIL_HOST, kind: 'mail', endpointId: '', keyId: '' } as const;
  return { ...mail, orgId, deliveryId, runId, seq, event: change.event, body, createdAtMs };
}

function starter({ starter: person }: DeliveredEvent, rules: QuestionRules | undefined): readonly MailedPerson[] {
  return person === undefined || !rules?.notStarter ? [] : [person];
}

function mailed({ runId }: DeliveredEvent, question: Question): MailedQuestion {
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
    answersItself: question.rules?.answersItself ?? false,
  };
}

/** A text without its quotes; anything else as JSON. A long value is not parsed. */
function shown(valueJson: string): string {
  if (!valueJson.startsWith('"') || valueJson.length > SHOWN_CHARACTERS_MAX * 6) return valueJson;
  try {
    return String(JSON.parse(valueJson));
  } catch {
    return valueJson;
  }
}
