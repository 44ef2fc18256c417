// The page with the form, and the page on which its answer is confirmed.

import { answerSentence } from '@methods/form/answer-words';
import type { Form } from '@methods/form/field';
import type { JsonObject } from '@methods/method/json';
import { answerList } from './answer-words.ts';
import type { AskedQuestion } from './asked-question.ts';
import { plainPage } from './end-pages.ts';
import { FormControls, type FormState } from './form-controls.ts';
import { exact, type Html, html } from './html.ts';
import type { PageContent } from './page-frame.ts';
import { promptPart, questionHead } from './question-head.ts';

export const COMMENT_CHARACTERS_MAX = 2_000;

export interface FormPageState extends FormState {
  readonly comment: string;
  readonly to: string;
  /** A fault of the page as a whole. */
  readonly said: string;
  /** Shows that the person who sends the unchanged form has read it. */
  readonly read: boolean;
  /** The form could be sent unchanged, so that must be an explicit choice. */
  readonly needsReading: boolean;
  readonly nonce: string;
  readonly status: number;
}

export const COMMENT = 'comment';
export const READ = 'read';
/** The address of the person to whom the question is delegated. */
export const TO = 'to';

export function formPage(question: AskedQuestion, form: Form, state: FormPageState): PageContent {
  const controls = new FormControls(state);
  const fields = controls.fields(form.fields);
  if (controls.isCut) return plainPage(state.status, 'This form is too large for a page', 'Answer it through the API.');
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
${handOver(state)}
</form>`;
  const title = faults === null ? question.prompt : `Error: ${question.prompt}`;
  return { status: state.status, title, about: question.orgName, main };
}

/**
 * Lists the faults first, with links to the fields; the page opens with the list in focus, and screen readers announce
 * it.
 */
function faultList({ faults, said }: FormPageState, { places, choose }: FormControls): Html | null {
  if (faults.size === 0 && said === '') return null;
  const order = new Map([...places.keys()].map((at, n) => [at, n]));
  const inOrder = [...faults].sort(([a], [b]) => (order.get(a) ?? -1) - (order.get(b) ?? -1));
  const items = inOrder.map(([at, message]) => {
    const place = places.get(at);
    const chosen = choose.get(at);
    const named = place === undefined ? message : `${place.words} ${message}`;
    const words = chosen === undefined ? named : faults.size === 1 ? chosen : `${place?.words}: ${chosen}`;
    const id = at === COMMENT || at === READ || at === TO ? at : place?.id;
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

function handOver({ to, faults }: FormPageState): Html {
  const message = faults.get(TO);
  const fault =
    message === undefined
      ? null
      : html`<p class="fault" id="to-fault"><span class="unseen">Error: </span>${message}</p>`;
  const described = fault === null ? null : html` aria-describedby="to-fault" aria-invalid="true"`;
  return html`<details${fault === null ? null : html` open`}><summary>Let another person answer</summary>
<div class="field${fault === null ? '' : ' wrong'}"><label for="to">Address of a member</label><p class="hint">They may answer from then on, and so may you.</p>${fault}<input id="to" name="to" type="text" inputmode="email" autocomplete="off" spellcheck="false" value="${exact(to)}"${described}></div>
<button class="second" name="do" value="delegate">Hand over</button></details>`;
}

export interface ConfirmPageState {
  readonly answer: JsonObject;
  readonly comment: string;
  /** This visitor's answer can be replaced until enough people agree. */
  readonly replaceable: boolean;
  readonly said: string;
  readonly nonce: string;
  readonly confirmation: string;
  /** The posted controls, to be posted again. */
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
<p>${finality(question, state)}</p>
${hidden}
<div class="buttons"><button name="do" value="send">Send answer</button><button class="second" name="do" value="change">Change</button></div>
</form>`;
  return { status: state.status, title: `Check your answer: ${question.prompt}`, about: question.orgName, main };
}

function finality({ needs }: AskedQuestion, { replaceable }: ConfirmPageState): string {
  if (needs <= 1) return 'This cannot be undone.';
  return replaceable
    ? 'You can change it until enough people gave the same answer.'
    : 'Your answer counts once and cannot be changed here.';
}
