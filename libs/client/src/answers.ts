// Gives answers to questions of runs that are known, sealed where the run is.
import type { Content } from './content.ts';
import type { RequestOptions, Requests } from './requests.ts';
import { isWhole, type Run, runPath } from './run.ts';

export class Answers {
  constructor(
    private readonly requests: Requests,
    private readonly content: Content,
  ) {}

  /** @throws InvalidRequestError `invalid_answer`; ConflictError if the question is no longer open */
  async give(run: Run, questionId: string, value: object, { signal }: RequestOptions): Promise<Run> {
    const body = { answer: await this.content.ofAnswer(run, questionId, value), question_id: questionId };
    return this.requests.send({ verb: 'POST', path: `${runPath(run.run_id)}/answer`, body, signal, is: isWhole });
  }
}
