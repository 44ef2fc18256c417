// The commands on a run that waits: answer, assign and delegate its question, and the times of the question. The run
// leaves `waiting` by an answer, at the deadline or by a cancel.

import { isForPeople, isStarter, mayAnswer } from '../answerers.ts';
import { changed, type Decision, type Effect, refused, unchanged } from '../decision.ts';
import { askedBy, closeQuestion, endingAgain, leave, newSteps, toFailed, WORKER_WAIT_MS, withStep } from '../moves.ts';
import { hasRole, isPerson, isSamePerson, type Party } from '../party.ts';
import { dueTimer, remindersDue } from '../question.ts';
import { countVote, type GivenAnswer, receiptOf, type Vote, withReceipt } from '../receipt.ts';
import type { AcceptedAnswer, OpenQuestion, QueuedRun, Run, WaitingRun } from '../run.ts';
import type { AnswerRun, AssignQuestion, DelegateQuestion, ExpireQuestion } from '../run-command.ts';
import { endOfQuestion } from '../step-states.ts';

/**
 * Precondition: waiting on the named question, or on any when none is named, and the sender may answer it. The same
 * answer of the same sender to the same question again changes nothing. Without a question's id, a value equal to the
 * last one is a repeat only when no question is open: two equal answers to two successive questions both count. A
 * question that needs several people stays open until enough of them agree.
 */
export function answerRun(run: Run | null, command: AnswerRun, nowMs: number): Decision {
  if (run === null) return refused('not_found');
  if (run.status !== 'waiting') {
    return isRepeat(run, command) ? unchanged : refused('run_not_waiting');
  }
  const { question } = run;
  if (command.questionId !== null && command.questionId !== question.id) {
    return isRepeat(run, command) ? unchanged : refused('question_changed');
  }
  const { answerJson, by, channel, comment } = command;
  // A chat's link belongs to its channel, not to a person.
  const isPersons = channel !== 'chat' || !isForPeople(question);
  if (!isPersons || !mayAnswer(run.facts, question, by)) return refused('not_an_answerer');
  const needs = question.policy?.needs ?? null;
  if (needs === null || by === null) return acceptAnswer(run, command, [], nowMs);
  const counted = countVote(question.votes ?? [], { by, answerJson, atMs: nowMs, channel, comment }, needs);
  switch (counted.kind) {
    case 'open':
      return changed(withQuestion(run, { votes: counted.votes }));
    case 'decided':
      return acceptAnswer(run, command, counted.agreeing, nowMs);
    case 'repeated':
      return unchanged;
    case 'final':
      return refused('vote_final');
    case 'full':
      return refused('too_many_votes');
  }
}

/** A person's answer is a repeat only of their own: one equal to another person's came too late, and does not count. */
function isRepeat({ answer, answers }: Run, { questionId, digest, by }: AnswerRun): boolean {
  if (answer === null || answer.digest !== digest) return false;
  if (questionId !== null && questionId !== answer.questionId) return false;
  const receipt = answers.findLast((one) => one.questionId === answer.questionId);
  if (by === null || !isPerson(by) || receipt === undefined || receipt.by === null) return true;
  const gave = [receipt.by, ...(receipt.votes ?? []).map((vote) => vote.by)];
  return gave.some((party) => isSamePerson(party, by));
}

// Changes of a waiting run that several commands share: its question changes, or gets its answer.

/** Keeps the run waiting, with other people, votes or times of its question. */
function withQuestion(run: WaitingRun, change: Partial<OpenQuestion>): WaitingRun {
  return { ...run, question: { ...run.question, askedSeq: askedBy(run).seq, ...change } };
}

/** Announces to a person that the question is theirs, unless they took it themselves. */
function announceTo(to: Party, by: Party, nowMs: number): readonly Effect[] {
  if (isSamePerson(to, by)) return [];
  return [{ type: 'emit', event: 'question.assigned', follows: null, atMs: nowMs, assigned: { to, by } }];
}

/** Accepts the answer. `agreeing`: the people who decided together, if several were needed. */
function acceptAnswer(
  run: WaitingRun,
  answer: GivenAnswer & { readonly digest: string },
  agreeing: readonly Vote[],
  nowMs: number,
): Decision {
  const { question } = run;
  const answered: QueuedRun = {
    status: 'queued',
    ...leave(run, nowMs),
    ending: endingAgain(run, nowMs),
    answer: {
      questionId: question.id,
      step: question.step,
      answerJson: answer.answerJson,
      digest: answer.digest,
      asked: askedBy(run),
      answeredAtMs: nowMs,
      ...(question.sealed !== undefined && deviceAnswer(question, answer)),
    },
    answers: withReceipt(run.answers, receiptOf(question, answer, agreeing, nowMs)),
  };
  return changed(answered, closeQuestion(run, 'answered'));
}

/** A worker that asks again keeps the deadline. Only the deadline itself answers with nothing. */
function deviceAnswer({ deadlineAtMs }: OpenQuestion, { channel }: GivenAnswer): Partial<AcceptedAnswer> {
  return { ...(deadlineAtMs !== null && { deadlineAtMs }), ...(channel === 'timeout' && { timedOut: true }) };
}

/**
 * Precondition: waiting on this question. A member, or a person who may answer, assigns it to a person who may answer,
 * or to no one. Everyone who may answer still may.
 */
export function assignQuestion(run: Run | null, { questionId, by, assignee }: AssignQuestion, nowMs: number): Decision {
  if (run === null) return refused('not_found');
  if (run.status !== 'waiting') return refused('run_not_waiting');
  const { question, facts } = run;
  if (question.id !== questionId) return refused('question_changed');
  if (!hasRole(by, 'member') && !mayAnswer(facts, question, by)) return refused('not_an_answerer');
  if (assignee === null) {
    if (question.assignee === undefined) return unchanged;
    const { assignee: _, ...unassigned }: OpenQuestion = withQuestion(run, {}).question;
    return changed({ ...run, question: unassigned });
  }
  if (!mayAnswer(facts, question, assignee)) return refused('assignee_may_not_answer');
  return question.assignee === assignee.personId
    ? unchanged
    : changed(withQuestion(run, { assignee: assignee.personId }), announceTo(assignee, by, nowMs));
}

const DELEGATIONS_MAX = 20;

/**
 * Precondition: waiting on this question, and the sender may answer it. The delegate may then answer it too, and it is
 * assigned to them. A question neither returns to a person who gave it away nor goes to a starter who may not answer.
 */
export function delegateQuestion(run: Run | null, { questionId, by, to }: DelegateQuestion, nowMs: number): Decision {
  if (run === null) return refused('not_found');
  if (run.status !== 'waiting') return refused('run_not_waiting');
  const { question, facts } = run;
  if (question.id !== questionId) return refused('question_changed');
  if (!isPerson(by) || !mayAnswer(facts, question, by)) return refused('not_an_answerer');
  const delegations = question.delegations ?? [];
  const last = delegations.at(-1);
  if (last !== undefined && isSamePerson(last.from, by) && isSamePerson(last.to, to)) return unchanged;
  if (question.policy?.notStarter && isStarter(facts, to)) return refused('delegate_is_starter');
  if (isSamePerson(by, to) || delegations.some(({ from }) => isSamePerson(from, to))) {
    return refused('delegate_has_delegated');
  }
  if (delegations.length >= DELEGATIONS_MAX) return refused('too_many_delegations');
  const more = [...delegations, { from: by, to, atMs: nowMs }];
  return changed(withQuestion(run, { delegations: more, assignee: to.personId }), announceTo(to, by, nowMs));
}

/**
 * A time of a question has come: its people are reminded, more people may answer, or its deadline has passed. At the
 * deadline it gets the answer of its source. Without one, a run whose version has steps for after a failure is queued
 * with its step failed, and any other run fails. Precondition: waiting on this question, and the time has come by the
 * database's clock (the commit compares it again with that clock, so a node's own clock never fires early).
 */
export function expireQuestion(run: Run | null, command: ExpireQuestion, nowMs: number): Decision {
  if (run?.status !== 'waiting' || run.question.id !== command.questionId) return refused('not_due');
  const { question } = run;
  switch (dueTimer(question, nowMs)) {
    case 'deadline':
      return atDeadline(run, nowMs);
    case 'escalation': {
      const escalated = withQuestion(run, { escalatedAtMs: nowMs, reminders: remindersDue(question, nowMs) });
      return changed(escalated, [{ type: 'emit', event: 'question.escalated', follows: null, atMs: nowMs }]);
    }
    case 'reminder': {
      const reminded = withQuestion(run, { reminders: remindersDue(question, nowMs) });
      return changed(reminded, [{ type: 'emit', event: 'question.reminded', follows: null, atMs: nowMs }]);
    }
    case null:
      return refused('not_due');
  }
}

function atDeadline(run: WaitingRun, nowMs: number): Decision {
  const { timeoutText, step, policy, hasTimeoutAnswer } = run.question;
  if (hasTimeoutAnswer) return acceptAnswer(run, timeoutAnswer(''), [], nowMs);
  if (policy?.timeoutAnswerJson != null) return acceptAnswer(run, timeoutAnswer(policy.timeoutAnswerJson), [], nowMs);
  const message = `No answer within ${timeoutText}`;
  const asked = endOfQuestion(run, 'failed', nowMs, { kind: 'timeout', message, status: 0, line: 0 });
  const error = { code: 'no_answer', kind: 'timeout', message, step };
  const failed = withStep(run, asked);
  const closed = closeQuestion(run, 'expired');
  if (run.ending?.kind === 'cleanup' || run.facts.cleansUp) {
    // A worker decides whether the run continues after the failed step, and with which steps.
    const ending = endingAgain(run, nowMs) ?? { kind: 'question', error, byMs: nowMs + WORKER_WAIT_MS };
    return changed({ status: 'queued', ...leave(failed, nowMs), ending }, closed, newSteps(run, asked));
  }
  const end = toFailed(failed, error, nowMs);
  return changed(end.run, [...closed, ...end.effects], newSteps(run, asked));
}

/** It has no sender, so it cannot be repeated. */
function timeoutAnswer(answerJson: string) {
  return { answerJson, digest: '', by: null, channel: 'timeout', comment: '' } as const;
}
