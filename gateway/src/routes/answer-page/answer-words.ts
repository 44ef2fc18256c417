// Writes whole answers and times as parts of a page.
import { zonedTime } from '@methods/base/zoned-time';
import { labelOf, valueWords } from '@methods/form/answer-words';
import type { Field, Form } from '@methods/form/field';
import { isJsonList, isJsonObject, type JsonObject, type JsonValue, ownField } from '@methods/method/json';
import { type Html, html } from './html.ts';

/** Every value of the answer beside its label. */
export function answerList(form: Form, answer: JsonObject): Html {
  return groupPart(form.fields, answer);
}

function groupPart(fields: readonly Field[], value: JsonObject): Html {
  const rows = fields.flatMap((field) => {
    const own = ownField(value, field.name);
    if (own === undefined) return [];
    return [html`<div><dt dir="auto">${labelOf(field)}</dt><dd dir="auto">${valuePart(field, own)}</dd></div>`];
  });
  if (rows.length === 0) return html`<p class="quiet">No values.</p>`;
  return html`<dl>${rows}</dl>`;
}

function valuePart(field: Field, value: JsonValue): Html {
  if (field.kind === 'group' && isJsonObject(value)) return groupPart(field.fields, value);
  if (field.kind === 'list' && isJsonList(value)) {
    if (value.length === 0) return html`<span class="quiet">Nothing</span>`;
    return html`<ol>${value.map((item) => html`<li>${valuePart(field.item, item)}</li>`)}</ol>`;
  }
  if (value === '') return html`<span class="quiet">Empty</span>`;
  return html`<span class="text">${valueWords(field, value)}</span>`;
}

/** A time in the organization's zone. A script adds the reader's own time. */
export function timePart(ms: number, zone: string): Html {
  const date = new Date(ms);
  const iso = Number.isNaN(date.getTime()) ? '' : date.toISOString();
  return html`<time datetime="${iso}">${zonedTime(ms, zone)}</time>`;
}
