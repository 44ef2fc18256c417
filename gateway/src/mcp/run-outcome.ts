// A run as agents see it: the API's run with its top-level steps and the newest answers. Parts too large for an agent
// are omitted, and named with the address that has them.
import { Run } from '@methods/api/run';
import type { OrgId } from '@methods/base/ids';
import { cutText } from '@methods/method/cut-text';
import { type Question, RunStatus, type RunView } from '@methods/proto/run/v1/run_pb';
import { Type } from 'typebox';
import { declaredSteps } from '../routes/runs/run-reply.ts';
import { runStateJson, runStatusName } from '../views/run-view.ts';
import { shownSteps } from '../views/step-view.ts';
import type { McpParts, ToolOutcome } from './tool.ts';

const RESULT_CHARACTERS_MAX = 64 * 1024;
/** Of what a question shows and its form together: a worker may send some MiB, whose reading holds the event loop. */
const QUESTION_CHARACTERS_MAX = 128 * 1024;
const PROMPT_CHARACTERS_MAX = 4_000;
const STEPS_MAX = 200;
const ANSWERS_MAX = 5;
/** Steps inside loops and calls have these in their paths. */
const INNER = /[/[]/;

export const AgentRun = Type.Object({
  ...Run.properties,
  answer_at: Type.Optional(
    Type.String({ description: 'While the run waits: the page on which a person who signs in answers.' }),
  ),
  result_left_out: Type.Optional(
    Type.String({ description: 'The result is too long for a tool; the path of the API that has it.' }),
  ),
  question_left_out: Type.Optional(
    Type.String({
      description:
        'The question is too long for a tool: its form and values are left out. The path of the API that has it.',
    }),
  ),
});

/** Why a queued run is not claimed. */
const QUEUED: Readonly<Record<string, string>> = {
  no_worker: 'no worker is connected that can take it; a person has to start one',
  feature_missing: 'no connected worker has the features it needs',
  key_missing: 'no connected worker has its content key',
  sleeping: 'it sleeps until not_before',
};

export async function runOutcome(
  parts: Pick<McpParts, 'registry' | 'clock' | 'publicUrl'>,
  orgId: OrgId,
  run: RunView,
): Promise<ToolOutcome> {
  const declared = await declaredSteps(parts, orgId, run);
  const nowMs = parts.clock.wallMs();
  const topLevel = { ...run, steps: run.steps.filter(({ path }) => !INNER.test(path)) };
  const steps: string[] = [];
  for (const { json } of shownSteps(topLevel, declared, nowMs)) if (steps.push(json) >= STEPS_MAX) break;
  const isLong = run.resultJson.length > RESULT_CHARACTERS_MAX;
  const question = run.question && shortened(run.question);
  const isCut = question !== run.question;
  const shown = {
    ...run,
    answers: run.answers.slice(-ANSWERS_MAX),
    ...(isLong && { resultJson: '' }),
    ...(isCut && question && { question }),
  };
  const more = [
    `"steps":[${steps.join(',')}]`,
    ...(isLong ? [`"result_left_out":"GET /api/runs/${run.runId}"`] : []),
    ...(isCut ? [`"question_left_out":"GET /api/runs/${run.runId}"`] : []),
    ...(run.status === RunStatus.WAITING ? [`"answer_at":${JSON.stringify(answerPage(parts, run))}`] : []),
  ];
  const text = `${runStateJson(shown, nowMs).slice(0, -1)},${more.join(',')}}`;
  return { summary: sentence(run, answerPage(parts, run)), data: JSON.parse(text), text };
}

function shortened(question: Question): Question {
  const { prompt, details, formJson, show, sealed } = question;
  const characters = show.reduce((sum, { path, valueJson }) => sum + path.length + valueJson.length, 0);
  const texts = prompt.length + details.length + formJson.length + sealed.length + characters;
  if (texts <= QUESTION_CHARACTERS_MAX) return question;
  const shorter = { prompt: cutText(prompt, PROMPT_CHARACTERS_MAX), details: '', formJson: '', show: [] };
  return { ...question, ...shorter, sealed: new Uint8Array() };
}

/** Returns the page where a person who signs in answers the run's question. */
export function answerPage({ publicUrl }: Pick<McpParts, 'publicUrl'>, { question }: RunView): string {
  return `${publicUrl ?? ''}/questions/${question?.id ?? ''}`;
}

function sentence(run: RunView, page: string): string {
  const { runId, question } = run;
  switch (run.status) {
    case RunStatus.WAITING:
      if (run.contentId !== '') {
        return `The run ${runId} waits for an answer. It is in device mode: only a program with its content key can answer.`;
      }
      return (
        `The run ${runId} waits for an answer to the question ${question?.id}; the data has its prompt and form. Show ` +
        `them to the user. A person answers at ${page}, or you with answer_run if the user says what to answer.`
      );
    case RunStatus.SUCCEEDED:
      if (run.contentId !== '') return `The run ${runId} has succeeded; its result is with its worker.`;
      return `The run ${runId} has succeeded; the data has its result.`;
    case RunStatus.FAILED:
      return `The run ${runId} has failed; "error" in the data says why and at which step.`;
    case RunStatus.CANCELLED:
      return `The run ${runId} is cancelled.`;
    default: {
      const reason = QUEUED[run.queuedReason];
      const why = run.status === RunStatus.QUEUED && reason !== undefined ? `: ${reason}` : '';
      return `The run ${runId} is ${runStatusName(run.status)}${why}. Read it again with get_run and wait_ms.`;
    }
  }
}
