// The pages that show why there is nothing to answer: answered, by whom and how, closed, cancelled, expired, unknown.
import { timeOfDay } from '@methods/base/zoned-time';
import { answerSentence } from '@methods/form/answer-words';
import type { Form } from '@methods/form/field';
import type { RefusalName } from '../../views/inbox-view.ts';
import { timePart } from './answer-words.ts';
import type { AskedQuestion, GivenAnswer, PageVisitor } from './asked-question.ts';
import { type Html, html } from './html.ts';
import type { PageContent } from './page-frame.ts';
import { answerOf, promptPart, questionHead, votesPart } from './question-head.ts';

/** After the answer was accepted. */
export function sentPage(question: AskedQuestion, form: Form, given: GivenAnswer): PageContent {
  const what = words(form, given);
  const sent = html`Sent: <bdi>${what}</bdi>, ${timeOfDay(given.atMs, question.timeZone)}.`;
  const more =
    question.state === 'open' ? html` The question stays open until enough people gave the same answer.` : null;
  return page(
    question,
    `Sent: ${what}`,
    html`<div class="said" role="status"><p><strong>${sent}</strong>${more} You can close this page.</p></div>${votesPart(question, form)}`,
  );
}

/** The visitor's answer arrived after another person's. */
export function racedPage(question: AskedQuestion, form: Form): PageContent {
  const { receipt } = question;
  if (receipt === null) return page(question, 'Answered already', OTHER_FIRST);
  const said = receipt.timedOut
    ? html`${answeredWords(question, form, receipt)} Yours came later and was not used.`
    : html`<bdi>${receipt.by}</bdi> answered first: <bdi>${words(form, receipt)}</bdi>. Yours was not used.`;
  return page(question, 'Answered already', html`<p role="status"><strong>${said}</strong></p>`);
}

/** For a question that this visitor cannot answer, or no longer can. */
export function endPage(
  question: AskedQuestion,
  form: Form,
  visitor: PageVisitor,
  signInPath: string | null = null,
): PageContent {
  const { receipt, state, closedAtMs, timeZone } = question;
  const own = question.votes.find(
    ({ linkRecipient }) => linkRecipient !== '' && linkRecipient === visitor.linkRecipient,
  );
  if (receipt !== null)
    return page(question, 'Answered', html`<p><strong>${answeredWords(question, form, receipt)}</strong></p>`);
  if (state === 'answered') return page(question, 'Answered', html`<p><strong>This question is answered.</strong></p>`);
  if (state === 'cancelled')
    return page(
      question,
      'No answer is needed',
      html`<p><strong>The run was cancelled. No answer is needed.</strong></p>`,
    );
  if (state === 'expired')
    return page(
      question,
      'Closed',
      html`<p><strong>This question closed on ${timePart(closedAtMs, timeZone)} without an answer.</strong></p>`,
    );
  if (own !== undefined)
    return page(
      question,
      'Answered',
      html`<p><strong>${answeredWords(question, form, own)}</strong> The question stays open until enough people gave the same answer.</p>${votesPart(question, form)}`,
    );
  const signIn =
    signInPath === null
      ? html`<p>Ask an admin of your organization to answer it.</p>`
      : html`<p>The question is still open. <a href="${signInPath}">Sign in to answer it</a>.</p>`;
  const why = visitor.state === 'over' ? 'This link has expired.' : 'This link no longer answers the question.';
  return { ...page(question, 'The link has expired', html`<p><strong>${why}</strong></p>${signIn}`) };
}

export function delegatedPage(question: AskedQuestion, name: string): PageContent {
  const said = html`<div class="said" role="status"><p><strong><bdi>${name}</bdi> may answer this question now.</strong> So may you.</p></div>
<p><a href="?">Back to the question</a></p>`;
  return page(question, 'Handed over', said);
}

/** The question, and why its rules refuse this visitor's answer. */
export function notAnAnswererPage(question: AskedQuestion, form: Form, status: 200 | 403): PageContent {
  const why = WHY[question.refusal ?? 'not_named'] ?? OTHERS;
  const sent = status === 403 ? html` Your answer was not used.` : null;
  const main = html`<div class="said" role="status"><p><strong>You may not answer this question.</strong>${sent} ${why}</p></div>
${questionHead(question, form)}`;
  return { status, title: 'You may not answer this question', about: question.orgName, main };
}

const OTHERS = 'The method lets other people answer it, or not the person who started the run. Ask one of them.';
const WHY: Readonly<Partial<Record<RefusalName, string>>> = {
  viewer: 'Viewers answer only questions that name them. Ask a member.',
  starter: 'The method excludes the person who started the run. Ask another member.',
  voted: 'You have answered it already through a link, which answers once.',
};

/** The content is only on the organization's devices. */
export function devicePage(question: AskedQuestion): PageContent {
  const text = html`<p>A question waits on the run <bdi>${question.runId}</bdi>. Its content is kept on your organization’s devices, and it is answered there.</p>`;
  return {
    status: 200,
    title: 'A question waits',
    about: question.orgName,
    main: html`<h1>A question waits</h1>${text}`,
  };
}

/** For an unknown link, and any other request that fails before a question is known. */
export function plainPage(status: number, heading: string, text: string): PageContent {
  return { status, title: heading, about: '', main: html`<h1>${heading}</h1><p>${text}</p>` };
}

const OTHER_FIRST = html`<p role="status"><strong>Another answer came first. Yours was not used.</strong></p>`;

function answeredWords({ timeZone }: AskedQuestion, form: Form, given: GivenAnswer): Html {
  const what = given.answerJson === '' ? null : html`: <bdi>${words(form, given)}</bdi>`;
  const at = timePart(given.atMs, timeZone);
  if (given.timedOut) return html`No one answered in time, and the method’s own answer counts${what}, ${at}.`;
  const through =
    given.linkRecipient === ''
      ? html`by <bdi>${given.by}</bdi>`
      : given.linkRecipient.includes('@')
        ? html`through the link sent to <bdi>${given.linkRecipient}</bdi>`
        : html`through the message in <bdi>${given.linkRecipient}</bdi>`;
  const said = given.comment === '' ? null : html` <q dir="auto">${given.comment}</q>`;
  const agreed =
    given.agreed === undefined ? null : html` ${given.agreed.length} people agreed: ${names(given.agreed)}.`;
  return html`Answered${what}, ${at}, ${through}.${said}${agreed}`;
}

function names(people: readonly string[]): Html[] {
  return people.map((name, n) => html`${n === 0 ? '' : ', '}<bdi>${name}</bdi>`);
}

function words(form: Form, { answerJson }: GivenAnswer): string {
  const answer = answerOf(answerJson);
  return answer === null ? 'answered' : answerSentence(form, answer);
}

function page(question: AskedQuestion, title: string, said: Html): PageContent {
  return { status: 200, title, about: question.orgName, main: html`${promptPart(question)}${said}` };
}
