// A run in device mode: everything that a step or a person made is sealed in reports and opened in the grant. Names,
// kinds, statuses and times are plain. The format is in docs/device-mode.md.
import { canonicalJson } from '@methods/base/canonical';
import type { FolderId } from '@methods/base/ids';
import type { ContentKey, Place, RunContentKey } from '@methods/content/device/content-key';
import { openStream, sealStream } from '@methods/content/device/sealed-stream';
import { SealedValueError } from '@methods/content/device/sealed-value-error';
import type { RunQuestion } from '@methods/executor/run-outcome';
import { StepStatus } from '@methods/proto/run/v1/run_pb';
import type { Grant } from '@methods/proto/worker/v1/worker_service_pb';
import type { WorkerItem } from '../scheduler-link.ts';
import type { DeviceKeys } from './device-keys.ts';
import type { RunContent } from './run-content.ts';

type RecordValue = Extract<WorkerItem['item'], { case: 'stepRecord' }>['value'];

const SEALED = '{"$sealed":"';
/** Its place differs from that of the step's out, so that neither is taken for the other. */
const checkpointOf = (path: string) => `checkpoint ${path}`;

/** @throws SealedValueError */
export function sealedContent(sealed: Grant, contentKey: ContentKey, keys: Pick<DeviceKeys, 'with'>): RunContent {
  const key = contentKey.ofRun(sealed.contentId);
  const grant = openedGrant(sealed, key);
  return {
    isSealed: true,
    grant,
    askItem: (seq, question, folderId) => sealedAsk(grant, key, seq, question, folderId),
    sent: (item) => sealedReport(item, key),
    sentFolder: (archive) => sealStream(key, 'folder', archive),
    openedFolder: (archive) => openStream(key, 'folder', archive),
    // Sealed before the run was started, by a key of its own, and maybe before the service key was rotated.
    openedFile: (contentId, file) =>
      openStream((fingerprint) => (keys.with(fingerprint) ?? contentKey).ofRun(contentId), 'file', file),
  };
}

function openedGrant(grant: Grant, key: RunContentKey): Grant {
  const { inputsJson, finishedSteps, answer, ending } = grant;
  return {
    ...grant,
    inputsJson: openedText(key, { kind: 'inputs', step: '' }, inputsJson),
    finishedSteps: finishedSteps.map((step) => {
      const { path, status, outJson, error } = step;
      const isBegun = status === StepStatus.RUNNING || status === StepStatus.WAITING;
      const place: Place = { kind: 'out', step: isBegun ? checkpointOf(path) : path };
      return {
        ...step,
        outJson: outJson === '' ? '' : openedText(key, place, outJson),
        ...(error && { error: { ...error, message: openedMessage(key, path, error.message) } }),
      };
    }),
    ...(answer && { answer: { ...answer, answerJson: openedAnswer(answer, key) } }),
    ...(ending && { ending: { ...ending, message: openedMessage(key, ending.step, ending.message) } }),
  };
}

/** An answer that does not open is no answer to any form, so that the step asks again. */
function openedAnswer({ questionId, step, answerJson, timedOut }: NonNullable<Grant['answer']>, key: RunContentKey) {
  if (timedOut) return 'null';
  try {
    return openedText(key, { kind: 'answer', step: `${questionId} ${step}` }, answerJson);
  } catch (error) {
    if (error instanceof SealedValueError) return 'null';
    throw error;
  }
}

/** JSON text of the plain value. */
function openedText(key: RunContentKey, place: Place, sealedJson: string): string {
  return JSON.stringify(key.openJson(place, parsed(sealedJson)));
}

/** The service itself ends some steps, for example at a deadline: its own messages are plain. */
function openedMessage(key: RunContentKey, step: string, message: string): string {
  return message.startsWith(SEALED) ? String(key.openJson({ kind: 'text', step }, parsed(message))) : message;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new SealedValueError('sealed_value_damaged');
  }
}

/** Seals a report that was just made, in place. */
function sealedReport(item: WorkerItem, key: RunContentKey): WorkerItem {
  const { item: report } = item;
  if (report?.case === 'stepRecord') sealRecord(report.value, key);
  if (report?.case !== 'finish') return item;
  const { error } = report.value;
  // The result stays on this machine.
  Object.assign(report.value, { resultJson: '' });
  const place: Place = { kind: 'text', step: error?.step ?? '' };
  if (error) Object.assign(error, { message: sealedText(key, place, error.message ?? '') });
  return item;
}

function sealRecord(record: RecordValue, key: RunContentKey): void {
  const { step, outJson = '', logTail = '', seq = 0 } = record;
  const { path = '', checks = [], error, status } = step ?? {};
  const isBegun = status === StepStatus.RUNNING || status === StepStatus.WAITING;
  const text = (message = '') => sealedText(key, { kind: 'text', step: path }, message);
  const out: Place = { kind: 'out', step: isBegun ? checkpointOf(path) : path };
  const log = () => key.seal({ kind: 'log', step: path }, Buffer.from(logTail, 'utf8'), seq);
  for (const check of checks) Object.assign(check, { message: text(check.message) });
  // Of an error only the message is kept: what a server answered is content too, and no one reads it.
  if (error) Object.assign(error, { message: text(error.message), reason: '', headers: {}, body: '' });
  Object.assign(record, {
    outJson: outJson === '' ? '' : JSON.stringify(key.sealJson(out, JSON.parse(outJson), seq)),
    logTail: logTail === '' ? '' : JSON.stringify({ $sealed: log().toString('base64url') }),
  });
}

function sealedText(key: RunContentKey, place: Place, text: string): string {
  return text === '' ? '' : JSON.stringify(key.sealJson(place, text));
}

function sealedAsk(
  grant: Grant,
  key: RunContentKey,
  seq: number,
  question: RunQuestion,
  folderId: FolderId | '',
): WorkerItem {
  const { step, prompt, details, show, form, refused = [], policy, timeoutMs = 0, timeoutText = '' } = question;
  const problems = refused.map(({ name, message }) => ({ path: '', code: 'check_failed', message: message ?? name }));
  const content = { prompt, ...(details !== undefined && { details }), show, form, ...(problems[0] && { problems }) };
  const sealed = key.seal({ kind: 'question', step }, Buffer.from(canonicalJson(content), 'utf8'), seq);
  const { runId, token, answer } = grant;
  const isAgain = refused.length > 0 && answer?.step === step;
  const value = {
    ...{ runId, token, seq, folderId, timeoutMs, timeoutText },
    question: { step, sealed },
    deadlineAtMs: isAgain ? answer.deadlineAtMs : 0,
    hasTimeoutAnswer: policy !== undefined && policy.timeoutAnswer !== null,
    remindMs: [...(policy?.remindMs ?? [])],
  };
  return { item: { case: 'ask', value } };
}
