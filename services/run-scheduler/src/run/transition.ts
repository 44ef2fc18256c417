// The run's rules: the effect of each command in each state. Pure: the time is a parameter, and effects are returned as
// values. Production and tests use this function.
import { unreachable } from '@methods/base/assert';
import { cancelRun } from './commands/cancel-run.ts';
import { askRun, finishRun, giveBackRun, heartbeatRun, recordStep, sleepRun } from './commands/held-run.ts';
import { claimRun, expireLease, returnGrant } from './commands/lease.ts';
import { answerRun, assignQuestion, delegateQuestion, expireQuestion } from './commands/question.ts';
import { startRun } from './commands/start-run.ts';
import { wakeRun } from './commands/wake-run.ts';
import type { Decision } from './decision.ts';
import type { Run } from './run.ts';
import type { RunCommand } from './run-command.ts';

/** `run` is null before its start; `nowMs` is the database's time. */
export function transition(run: Run | null, command: RunCommand, nowMs: number): Decision {
  switch (command.type) {
    case 'start':
      return startRun(run, command);
    case 'claim':
      return claimRun(run, command, nowMs);
    case 'record_step':
      return recordStep(run, command, nowMs);
    case 'ask':
      return askRun(run, command, nowMs);
    case 'sleep':
      return sleepRun(run, command, nowMs);
    case 'finish':
      return finishRun(run, command, nowMs);
    case 'give_back':
      return giveBackRun(run, command, nowMs);
    case 'return_grant':
      return returnGrant(run, command, nowMs);
    case 'heartbeat':
      return heartbeatRun(run, command, nowMs);
    case 'expire_lease':
      return expireLease(run, command, nowMs);
    case 'answer':
      return answerRun(run, command, nowMs);
    case 'assign_question':
      return assignQuestion(run, command, nowMs);
    case 'delegate_question':
      return delegateQuestion(run, command, nowMs);
    case 'expire_question':
      return expireQuestion(run, command, nowMs);
    case 'wake':
      return wakeRun(run, nowMs);
    case 'cancel':
      return cancelRun(run, nowMs);
    default:
      return unreachable(command);
  }
}
