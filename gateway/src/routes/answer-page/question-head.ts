// The upper part of a page: the question, its step and method, its values, and its deadline.

import { answerSentence } from '@methods/form/answer-words';
import type { Form } from '@methods/form/field';
import { cutText } from '@methods/method/cut-text';
import { isJsonObject, type JsonObject, type JsonValue } from '@methods/method/json';
import { timePart } from './answer-words.ts';
import type { AskedQuestion } from './asked-question.ts';
import { type Html, html } from './html.ts';
import { shownValues } from './shown-value.ts';

/** A longer one continues below its heading. */
const PROMPT_CHARACTERS_MAX = 300;
const DETAILS_CHARACTERS_MAX = 4_000;
const VOTES_MAX = 50;
/** For a prompt and for details: writing a megabyte of a hostile text takes a tenth of a second. */
const SHOWN_CHARACTERS_MAX = 64 * 1024;

export function questionHead(question: AskedQuestion, form: Form): Html {
  return html`${promptPart(question)}
${detailsPart(question.details)}
${deadlinePart(question, form)}
${votesPart(question, form)}
${shownValues(question.show)}`;
}

/** The question without its content, for the pages that follow. */
export function promptPart({ methodName, step, prompt }: AskedQuestion): Html {
  const heading = cutText(prompt, PROMPT_CHARACTERS_MAX);
  const rest =
    prompt.length > heading.length
      ? html`<p class="text" dir="auto">…${shortened(prompt.slice(heading.length))}</p>`
      : null;
  const ofStep = step === '' ? null : html`, step <bdi>${step}</bdi>`;
  return html`<p class="quiet"><bdi>${methodName}</bdi>${ofStep}</p>
<h1 dir="auto">${heading === '' ? 'A question was asked' : heading}${rest === null ? null : '…'}</h1>
${rest}`;
}

function detailsPart(details: string): Html | null {
  if (details === '') return null;
  if (details.length <= DETAILS_CHARACTERS_MAX) return html`<p class="text" dir="auto">${details}</p>`;
  const start = cutText(details, DETAILS_CHARACTERS_MAX);
  const summary = html`<summary>Show all (${details.length.toLocaleString('en')} characters)</summary>`;
  return html`<p class="text" dir="auto">${start}…</p><details>${summary}<p class="text" dir="auto">${shortened(details)}</p></details>`;
}

function shortened(text: string): string {
  return text.length <= SHOWN_CHARACTERS_MAX ? text : `${cutText(text, SHOWN_CHARACTERS_MAX)}…`;
}

function deadlinePart({ deadlineAtMs, timeZone, timeoutAnswerJson }: AskedQuestion, form: Form): Html | null {
  if (deadlineAtMs === 0) return null;
  const fallback = answerOf(timeoutAnswerJson);
  const after =
    fallback === null
      ? html`after that the run fails`
      : html`after that the answer is <bdi>${answerSentence(form, fallback)}</bdi>`;
  return html`<p>Answer by ${timePart(deadlineAtMs, timeZone)}; ${after}.</p>`;
}

/** The votes of a question that needs several people. */
export function votesPart({ needs, votes, timeZone }: AskedQuestion, form: Form): Html | null {
  if (needs <= 1 && votes.length === 0) return null;
  const rows = votes.slice(0, VOTES_MAX).map(({ by, answerJson, atMs, comment }) => {
    const answer = answerOf(answerJson);
    const what = answer === null ? 'answered' : answerSentence(form, answer);
    const said = comment === '' ? null : html`: <q dir="auto">${comment}</q>`;
    return html`<li><bdi>${by}</bdi>: <bdi>${what}</bdi>, ${timePart(atMs, timeZone)}${said}</li>`;
  });
  const so = rows.length === 0 ? html`<p>No one has answered yet.</p>` : html`<ul>${rows}</ul>`;
  return html`<section><h2>Answers so far</h2><p>Decided once ${needs} people gave the same answer.</p>${so}</section>`;
}

/** Null for an answer that is unknown here. */
export function answerOf(json: string): JsonObject | null {
  if (json === '') return null;
  try {
    const value = JSON.parse(json) as JsonValue;
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
