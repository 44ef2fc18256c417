// A committed change as the event that others receive.
import { create, toBinary } from '@bufbuild/protobuf';
import { RunEventSchema } from '@methods/proto/event/v1/event_pb';
import type { Effect } from '../run/effect.ts';
import { starterOf } from '../run/party.ts';
import type { Run } from '../run/run.ts';
import type { OutboxEvent } from '../store/run-store.ts';
import { partyMessage } from '../wire/party-message.ts';
import { questionMessage } from '../wire/question-message.ts';
import { answererNumber, runStatusNumber } from '../wire/run-message.ts';
import { EVENT_BYTES_MAX, withoutContent } from './event-size.ts';

type EmittedEvent = Omit<Effect & { type: 'emit' }, 'type'>;

/** `run` after the change; its revision orders a run's events. */
export function runEvent(
  run: Run,
  { event, follows, atMs = run.stateSinceMs, closed, assigned }: EmittedEvent,
): OutboxEvent {
  const { facts, revision } = run;
  const starter = starterOf(facts);
  // The one commit may also end the run.
  const outboxId = closed === undefined ? `${facts.runId}.${revision}` : `${facts.runId}.${revision}.closed`;
  const whole = toBinary(
    RunEventSchema,
    create(RunEventSchema, {
      outboxId,
      orgId: facts.orgId,
      runId: facts.runId,
      seq: revision,
      event,
      status: runStatusNumber(run.status),
      method: facts.method,
      versionId: facts.versionId,
      webhookUrl: facts.webhookUrl ?? '',
      keyId: facts.keyId,
      answerBy: answererNumber(facts.answerBy),
      ...(run.status === 'waiting' ? { question: questionMessage(run.question) } : {}),
      ...(run.status === 'succeeded' ? { resultJson: run.resultJson } : {}),
      ...(run.status === 'failed' ? { error: { ...run.error } } : {}),
      createdAtMs: atMs,
      ...(closed && { closed }),
      ...(assigned && { assigned: { to: partyMessage(assigned.to), by: partyMessage(assigned.by) } }),
      ...(starter && { starter: partyMessage(starter) }),
      ...(follows === null ? {} : { followsSeq: follows.seq, followsAtMs: follows.atMs }),
    }),
  );
  const body = whole.length > EVENT_BYTES_MAX ? (withoutContent(whole) ?? whole) : whole;
  return {
    outboxId,
    orgId: facts.orgId,
    runId: facts.runId,
    shard: facts.shard,
    seq: revision,
    body,
    createdAtMs: atMs,
  };
}
