// The page with the form, and the page on which its answer is confirmed.
import type { Form } from '@methods/form/field';
import type { JsonObject } from '@methods/method/json';
import { answerList, answerSentence } from './answer-words.ts';
import type { AskedQuestion } from './asked-question.ts';
import { FormControls, type FormState } from './form-controls.ts';
import { exact, type Html, html } from './html.ts';
import type { PageContent } from './page-frame.ts';
import { promptPart, questionHead } from './question-head.ts';

export const COMMENT_CHARACTERS_MAX = 2_000;

export interface FormPageState extends FormState {
  readonly comment: string;
  /** What is wrong with the page as a whole. */
  readonly said: string;
  /** Says that the person who sends the form as it is has read it. */
  readonly read: boolean;
  /** The form could be sent untouched: that has to be a choice too. */
  readonly needsReading: boolean;
  readonly nonce: string;
  readonly status: number;
}

export const COMMENT = 'comment';
export const READ = 'read';

export function formPage(question: AskedQuestion, form: Form, state: FormPageState): PageContent {
  const controls = new FormControls(state);
  const fields = controls.fields(form.fields);
  const faults = faultList(state, controls);
  const main = html`${faults}${questionHead(question, form)}
<form method="post" novalidate>
<input type="hidden" name="nonce" value="${state.nonce}">
<button class="unseen" name="do" value="check" tabindex="-1" aria-hidden="true">Continue</button>
<h2>Your answer</h2>
${fields}
${question.takesComment ? commentField(state) : null}
${state.needsReading ? readField(state) : null}
<div class="buttons"><button name="do" value="check">Continue</button></div>
<p class="hint">You check your answer on the next page before it is sent.</p>
</form>`;
  const title = faults === null ? question.prompt : `Error: ${question.prompt}`;
  return { status: state.status, title, about: question.orgName, main };
}

/** What is wrong, first of all, with links to the fields; the page opens with it in focus, and readers announce it. */
function faultList({ faults, said }: FormPageState, { places }: FormControls): Html | null {
  if (faults.size === 0 && said === '') return null;
  const order = [...places.keys()];
  const inOrder = [...faults].sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
  const items = inOrder.map(([at, message]) => {
    const place = places.get(at);
    const words = place === undefined ? message : `${place.words} ${message}`;
    const id = at === COMMENT || at === READ ? at : place?.id;
    return html`<li>${id === undefined ? words : html`<a href="#${id}">${words}</a>`}</li>`;
  });
  const list = items.length === 0 ? null : html`<ul>${items}</ul>`;
  const sentence = said === '' ? 'Your answer is not complete.' : said;
  return html`<div class="faults" role="alert" tabindex="-1" autofocus><p><strong>${sentence}</strong></p>${list}</div>`;
}

function commentField({ comment, faults }: FormPageState): Html {
  const message = faults.get(COMMENT);
  const fault =
    message === undefined
      ? null
      : html`<p class="fault" id="comment-fault"><span class="unseen">Error: </span>${message}</p>`;
  const described = fault === null ? null : html` aria-describedby="comment-fault" aria-invalid="true"`;
  return html`<div class="field${fault === null ? '' : ' wrong'}"><label for="comment">Comment <span class="quiet">(optional)</span></label>${fault}<textarea id="comment" name="comment" rows="3"${described}>
${exact(comment)}</textarea></div>`;
}

function readField({ read, faults }: FormPageState): Html {
  const message = faults.get(READ);
  const fault =
    message === undefined
      ? null
      : html`<p class="fault" id="read-fault"><span class="unseen">Error: </span>${message}</p>`;
  const described = fault === null ? null : html` aria-describedby="read-fault"`;
  return html`<div class="field${fault === null ? '' : ' wrong'}">${fault}<label class="option"><input type="checkbox" id="read" name="read" value="yes"${read ? html` checked` : null}${described}> <span>I have read this, and my answer is as above.</span></label></div>`;
}

export interface ConfirmPageState {
  readonly answer: JsonObject;
  readonly comment: string;
  readonly said: string;
  readonly nonce: string;
  readonly confirmation: string;
  /** What was posted, to be posted again. */
  readonly controls: readonly (readonly [string, string])[];
  readonly status: number;
}

export function confirmPage(question: AskedQuestion, form: Form, state: ConfirmPageState): PageContent {
  const hidden = [
    ...state.controls,
    ['nonce', state.nonce] as const,
    ['confirmation', state.confirmation] as const,
  ].map(
    ([name, value]) => html`<input type="hidden" name="${exact(name)}" value="${exact(value)}">
`,
  );
  const said =
    state.said === ''
      ? null
      : html`<div class="faults" role="alert" tabindex="-1" autofocus><p><strong>${state.said}</strong></p></div>`;
  const comment =
    state.comment === '' ? null : html`<p>Comment: <span class="text" dir="auto">${state.comment}</span></p>`;
  const main = html`${said}${promptPart(question)}
<form method="post">
<h2>Check your answer: <bdi>${answerSentence(form, state.answer)}</bdi></h2>
${answerList(form, state.answer)}
${comment}
<p>${question.needs > 1 ? 'Your answer counts once and cannot be changed here.' : 'This cannot be undone.'}</p>
${hidden}
<div class="buttons"><button name="do" value="send">Send answer</button><button class="second" name="do" value="change">Change</button></div>
</form>`;
  return { status: state.status, title: `Check your answer: ${question.prompt}`, about: question.orgName, main };
}
