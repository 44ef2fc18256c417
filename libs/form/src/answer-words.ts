// Writes fields, choices and whole answers in words, for people who check or read them.
import { cutText } from '@methods/method/cut-text';
import { type JsonObject, type JsonValue, ownField } from '@methods/method/json';
import type { Field, Form } from './field.ts';

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

/** A value of the field as its choices name it. */
export function valueWords(field: Field, value: JsonValue): string {
  return field.kind === 'choice' ? choiceWord(field.choices, value) : plainWords(value);
}

function cut(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > SENTENCE_CHARACTERS_MAX ? `${cutText(line, SENTENCE_CHARACTERS_MAX)}…` : line;
}
