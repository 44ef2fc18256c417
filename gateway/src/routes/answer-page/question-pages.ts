// The pages of questions: by an answer link, and for people who have signed in. Each exists if its services do.
import type { FastifyInstance } from 'fastify';
import type { SignIn } from '../../callers/sign-in.ts';
import { type AnswerPageParts, addAnswerPage } from './answer-page-routes.ts';
import type { AskedQuestion } from './asked-question.ts';
import { addPageFields } from './page-scope.ts';
import { addSignedInPage, questionPath, type SignedInPageParts } from './signed-in-page.ts';

export interface QuestionPageParts
  extends Omit<SignedInPageParts, 'signInPath'>,
    Omit<AnswerPageParts, 'signInPath' | 'answerLinks'> {
  /** Null: there is no notifier, and so there are no links. */
  readonly answerLinks: AnswerPageParts['answerLinks'] | null;
  /** Null: no issuer is configured. */
  readonly signIn: SignIn | null;
}

export async function addQuestionPages(app: FastifyInstance, parts: QuestionPageParts): Promise<void> {
  const { answerLinks, signIn } = parts;
  addPageFields(app);
  const signInPath = signIn === null ? null : ({ questionId }: AskedQuestion) => questionPath(questionId);
  if (answerLinks !== null) await addAnswerPage(app, { ...parts, answerLinks, signInPath });
  if (signIn !== null) await addSignedInPage(app, { ...parts, signInPath });
}
