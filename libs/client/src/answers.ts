// Gives answers to questions of runs that are known, sealed where the run is.
import type { Content } from './content.ts';
import type { RequestOptions, Requests } from './requests.ts';
import { isWhole, type Run, runPath } from './run.ts';

export class Answers {
  constructor(
    private readonly requests: Requests,
    private readonly content: Content,
  ) {}

  /**
   * `isUnderway`: the caller waits for the run. @throws InvalidRequestError `invalid_answer`; ConflictError if the
   * question is no longer open
   */
  async give(
    run: Run,
    questionId: string,
    value: object,
    options: RequestOptions & { readonly isUnderway?: boolean },
  ): Promise<Run> {
    const body = { answer: await this.content.ofAnswer(run, questionId, value), question_id: questionId };
    return this.requests.send({ verb: 'POST', path: `${runPath(run.run_id)}/answer`, body, ...options, is: isWhole });
  }
}
