// Owns where a draft's values come from: a field of an earlier answer, a declared secret, an input, or the text itself.
import { literalText } from '../draft/method-text.ts';
import { snakeName } from '../draft/names.ts';
import { isJsonList, isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { isTakenSecretName, SECRET_NAME } from '../source/names.ts';
import { AnswerBook } from './answer-book.ts';
import type { RecordingFinding } from './recording-finding.ts';
import { looksSecret, namesPassword, namesSecret } from './secret-words.ts';

interface DraftInput {
  readonly type: string;
  /** Undefined when the recorded value must not be kept. */
  readonly example: JsonValue | undefined;
}

const INPUTS_MAX = 100;
const VALUE_CHARACTERS_MIN = 4;
const EXAMPLE_CHARACTERS_MAX = 1_000;
const LINE_CHARACTERS_MAX = 200;

/** The inputs and secrets of one draft, and what its steps have answered so far. */
export class RecordedValues {
  readonly answers = new AnswerBook();
  readonly findings: RecordingFinding[] = [];
  readonly #inputs = new Map<string, DraftInput>();
  readonly #inputNames = new Map<string, string>();
  readonly #secrets = new Map<string, string>();
  readonly #secretNames = new Map<string, string>();
  /** Passwords sent anywhere in the recording, with the name of their field. */
  readonly #passwords = new Map<string, string>();

  get inputNames(): string[] {
    return [...this.#inputs.keys()];
  }

  get secretNames(): string[] {
    return [...this.#secrets.keys()];
  }

  get inputs(): JsonObject {
    return Object.fromEntries(
      Array.from(this.#inputs, ([name, { type, example }]) => [
        name,
        example === undefined ? type : { $type: type, $examples: [example] },
      ]),
    );
  }

  get secrets(): JsonObject {
    return Object.fromEntries(this.#secrets);
  }

  /** Registers a password before the draft is made: it may be sent under another name first. */
  foresee(name: string, value: string): void {
    if (value.length >= VALUE_CHARACTERS_MIN && !this.#passwords.has(value)) this.#passwords.set(value, name);
  }

  /** True for a value that must not be kept. */
  isSecret(value: string): boolean {
    return this.#passwords.has(value) || this.#secretNames.has(value) || looksSecret(value);
  }

  /** A leaf of a body, a query or a form, as the draft has it. `step` and `place` say where it was sent. */
  leaf(key: string, value: JsonValue, step: string, place: string): JsonValue {
    const name = snakeName(key, 'value');
    if (typeof value !== 'string' && typeof value !== 'number') return value;
    if (value === '') return value;
    const text = String(value);
    const password = this.#passwords.get(text) ?? (namesPassword(name) ? name : undefined);
    if (password !== undefined || this.#secretNames.has(text))
      return `=secrets.${this.secret(password ?? name, text, `Sent as ${password ?? name}`)}`;
    const isSecret = namesSecret(name) || looksSecret(text);
    const answered = this.answers.find(text, isSecret ? 'secret' : 'value', place, this.findings);
    if (answered !== undefined) return `=${answered}`;
    if (isSecret && typeof value === 'string') return `=secrets.${this.secret(name, text, `Sent as ${name}`)}`;
    return this.input(name, value, step) ?? (typeof value === 'string' ? literalText(value) : value);
  }

  /** A list of texts is one input; other lists and objects are walked. */
  body(key: string, value: JsonValue, step: string, place: string): JsonValue {
    if (isJsonObject(value)) {
      return Object.fromEntries(
        Object.entries(value).map(([name, item]) => [name, this.body(name, item, step, place)]),
      );
    }
    if (!isJsonList(value)) return this.leaf(key, value, step, place);
    const isPlain = value.length > 0 && value.every((item) => typeof item === 'string' && !this.#isKnown(key, item));
    const list = isPlain ? this.input(snakeName(key, 'values'), value, step) : undefined;
    return list ?? value.map((item) => this.body(key, item, step, place));
  }

  #isKnown(key: string, value: string): boolean {
    return namesSecret(snakeName(key, 'value')) || this.isSecret(value) || this.answers.has(value);
  }

  /** `=inputs.x` with the value as its example; undefined when there are too many inputs. */
  input(name: string, value: JsonValue, step: string): string | undefined {
    const written = JSON.stringify(value);
    // An id is the same thing under any name.
    const isId = /(?:^|_)id$/.test(name) && written.length >= VALUE_CHARACTERS_MIN;
    const known =
      this.#inputNames.get(`${name} ${written}`) ?? (isId ? this.#inputNames.get(`id ${written}`) : undefined);
    if (known !== undefined) return `=inputs.${known}`;
    if (this.#inputs.size >= INPUTS_MAX) return undefined;
    let free = this.#inputs.has(name) ? snakeName(`${step}_${name}`, 'value') : name;
    for (let number = 2; this.#inputs.has(free); number++) free = `${name}_${number}`;
    const tooLong = written.length > EXAMPLE_CHARACTERS_MAX;
    const unsafe = typeof value === 'number' && !Number.isSafeInteger(value) && Number.isInteger(value);
    const secret = typeof value === 'string' && this.isSecret(value);
    this.#inputs.set(free, { type: typeOf(value), example: tooLong || unsafe || secret ? undefined : value });
    this.#inputNames.set(`${name} ${written}`, free);
    if (isId) this.#inputNames.set(`id ${written}`, free);
    return `=inputs.${free}`;
  }

  /** An input whose recorded value is not kept. */
  inputWithoutExample(name: string, type: string): string {
    let free = name;
    for (let number = 2; this.#inputs.has(free); number++) free = `${name}_${number}`;
    this.#inputs.set(free, { type, example: undefined });
    return `=inputs.${free}`;
  }

  /** The name of the secret in place of a value; the value itself is only kept to recognize it. */
  secret(name: string, value: string, note: string): string {
    // A short value, such as a PIN, may occur anywhere by chance; it is only the same one under the same name.
    const memory = value.length < VALUE_CHARACTERS_MIN ? `${name} ${value}` : value;
    const known = this.#secretNames.get(memory);
    if (known !== undefined) return known;
    const wanted = name.toUpperCase().slice(0, 60);
    const base = SECRET_NAME.test(wanted) && !isTakenSecretName(wanted) ? wanted : `MY_${wanted}`;
    let free = base;
    for (let number = 2; this.#secrets.has(free); number++) free = `${base}_${number}`;
    this.#secrets.set(free, note);
    this.#secretNames.set(memory, free);
    return free;
  }

  /** A secret that has one name however often its value changes, as tokens do. */
  sharedSecret(name: string, note: string): string {
    if (!this.#secrets.has(name)) this.#secrets.set(name, note);
    return name;
  }
}

function typeOf(value: JsonValue): string {
  if (isJsonList(value)) return 'list<string>';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return String(value).length > LINE_CHARACTERS_MAX || String(value).includes('\n') ? 'text' : 'string';
}
