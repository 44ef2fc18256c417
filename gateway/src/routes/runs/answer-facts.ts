// What the audit log keeps of an accepted answer: the facts of its receipt, without what was answered or written beside it.
import type { AnswerChannel, RunView } from '@methods/proto/run/v1/run_pb';
import { channelName } from '../../views/question-view.ts';

/**
 * `run` after the answer; `questionId` is empty for the question that was open. `counted` is `vote` while the question
 * needs more people.
 */
export function answerFacts(
  run: RunView,
  questionId: string,
  channel: AnswerChannel,
): Readonly<Record<string, string>> {
  const receipt = run.answers.findLast((one) => questionId === '' || one.questionId === questionId);
  const { question } = run;
  // Another question may be open by now.
  const isVote = question?.policy !== undefined && question.policy.needs > 0 && receipt?.questionId !== questionId;
  const open = isVote && (questionId === '' || question.id === questionId) ? question : null;
  const id = questionId || open?.id || receipt?.questionId;
  const [form, version] =
    open === null ? [receipt?.formHash, receipt?.versionHash] : [open.formSha256, open.versionSha256];
  return {
    ...(id && { question_id: id }),
    channel: channelName(channel),
    counted: open === null ? 'answer' : 'vote',
    ...(form && { form_sha256: form }),
    ...(version && { version_sha256: version }),
  };
}
