// Writes values and whole answers in words, for people who check or read them.
import { zonedTime } from '@methods/base/zoned-time';
import type { Field, Form } from '@methods/form/field';
import { cutText } from '@methods/method/cut-text';
import { isJsonList, isJsonObject, type JsonObject, type JsonValue, ownField } from '@methods/method/json';
import { type Html, html } from './html.ts';

const SENTENCE_CHARACTERS_MAX = 200;
const LABEL_CHARACTERS_MAX = 200;
/** For an answer without its form. */
const VALUES_MAX = 20;
const IDENTIFIER = /^[a-z][a-z0-9]*([_-][a-z0-9]+)*$/;

/** Returns `run_again` as `Run again`; any other text unchanged. Choices that would look alike stay unchanged. */
export function choiceWords(choices: readonly JsonValue[]): readonly string[] {
  const exact = choices.map(plainWords);
  const nice = exact.map((text, at) => (typeof choices[at] === 'string' ? spelledOut(text) : text));
  return new Set(nice).size === exact.length ? nice : exact;
}

/** By the JSON of a choice. An answer may choose from the same thousand choices a thousand times. */
const wordsOf = new WeakMap<readonly JsonValue[], ReadonlyMap<string, string>>();

function choiceWord(choices: readonly JsonValue[], value: JsonValue): string {
  const named = wordsOf.get(choices) ?? namedChoices(choices);
  wordsOf.set(choices, named);
  return named.get(JSON.stringify(value)) ?? plainWords(value);
}

function namedChoices(choices: readonly JsonValue[]): ReadonlyMap<string, string> {
  const words = choiceWords(choices);
  return new Map(choices.map((choice, at) => [JSON.stringify(choice), words[at] ?? '']));
}

/** For a label that is only a field's name. */
export function labelOf({ label, name }: Pick<Field, 'label' | 'name'>): string {
  return cutText(label === name ? spelledOut(label) : label, LABEL_CHARACTERS_MAX);
}

function spelledOut(text: string): string {
  if (!IDENTIFIER.test(text)) return text;
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replaceAll(/[_-]/g, ' ')}`;
}

function plainWords(value: JsonValue): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Returns the answer in a few words: its choices if it has any, else all of it, cut. */
export function answerSentence(form: Form, answer: JsonObject): string {
  const given = form.fields.flatMap((field) => {
    const value = ownField(answer, field.name);
    return value === undefined ? [] : [{ field, value }];
  });
  const chosen = given.filter(({ field: { kind } }) => kind === 'choice' || kind === 'boolean');
  const [only] = given.length === 1 ? given : chosen.length === 1 ? chosen : [];
  if (only !== undefined) return cut(valueWords(only.field, only.value));
  const said = chosen.length > 0 ? chosen : given;
  if (said.length === 0) return cut(withoutForm(answer));
  return cut(said.map(({ field, value }) => `${labelOf(field)} ${valueWords(field, value)}`).join(', '));
}

/** For a question whose form is no longer kept: a single value, or the first values with their names. */
function withoutForm(answer: JsonObject): string {
  const values = Object.entries(answer).slice(0, VALUES_MAX);
  const [only] = values;
  if (only === undefined) return 'no values';
  if (values.length === 1) return valueText(only[1]);
  return values.map(([name, value]) => `${spelledOut(name)} ${valueText(value)}`).join(', ');
}

function valueText(value: JsonValue): string {
  return typeof value === 'string' ? spelledOut(value) : plainWords(value);
}

function valueWords(field: Field, value: JsonValue): string {
  return field.kind === 'choice' ? choiceWord(field.choices, value) : plainWords(value);
}

function cut(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > SENTENCE_CHARACTERS_MAX ? `${cutText(line, SENTENCE_CHARACTERS_MAX)}…` : line;
}

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
