// Turns a posted page into an answer. A control is named by its field's place in the answer, a JSON Pointer.
import { type Effort, FULL_EFFORT } from '@methods/method/check-value';
import { type JsonObject, type JsonValue, objectOf } from '@methods/method/json';
import { type ChoiceField, type Field, type Form, type GroupField, type ListField } from './field.ts';
import { CONTROLS_MAX, CONTROLS_TOO_MANY, type Controls, postedControls } from './posted-controls.ts';
import { valueOfText, zonedText } from './typed-text.ts';
import { GIVEN, hasRows, mayBeLeftOut, pointer, type Typed, typedValues } from './typed-values.ts';

export interface PostedAnswer {
  /** As sent: the form's check fills in defaults. Does not fit the form while there are faults. */
  readonly answer: JsonObject;
  /** With defaults; null while there are faults, or where the effort did not suffice to find out. */
  readonly filled: JsonObject | null;
  /** Maps the JSON Pointer of a field to its fault; `''` is the whole answer. */
  readonly faults: ReadonlyMap<string, string>;
  /** For showing the page again: what was typed, with the rows of lists numbered without gaps. */
  readonly typed: Typed;
}

/** The fault of a choice that was not made. */
export const NEEDS_CHOICE = 'needs a choice';

/** Of all lists that are a text area. */
const LINES_MAX = 5_000;
/** Of a name in the findings of a check. */
const FOUND_NAME_CHARACTERS_MAX = 100;

/**
 * Reads a posted page. Controls that the form does not have are ignored. A field that still shows its default is
 * omitted from the answer, so that the default itself counts and not its text.
 */
export function readPostedAnswer(
  form: Form,
  posted: Iterable<readonly [string, string]>,
  effort: Effort = FULL_EFFORT,
): PostedAnswer {
  const reader = new PostedReader(form, posted);
  const { answer, faults, typed } = reader;
  const checked = form.check(answer, effort);
  if (!checked.ok && checked.reason !== 'too_costly')
    for (const { path, message } of checked.findings) reader.fault(path, message);
  const filled = checked.ok && faults.size === 0 ? (checked.value as JsonObject) : null;
  return { answer, filled, faults, typed };
}

class PostedReader {
  readonly answer: JsonObject;
  readonly faults = new Map<string, string>();
  readonly typed = new Map<string, readonly string[]>();
  readonly #shown: Controls;
  /** By their pointers as findings have them. */
  readonly #fields = new Map<string, string>([['', '']]);
  #linesLeft = LINES_MAX;

  constructor(form: Form, posted: Iterable<readonly [string, string]>) {
    const { root, tooMany } = postedControls(posted);
    const defaults = [...typedValues(form)].flatMap(([at, texts]) => texts.map((text) => [at, text] as const));
    this.#shown = postedControls(defaults).root;
    if (tooMany) this.fault('', CONTROLS_TOO_MANY);
    this.answer = this.#group(form.fields, '', root, this.#shown);
  }

  /** The first fault of a field counts; one below a field that has no control of its own is the field's. */
  fault(at: string, message: string): void {
    let found = at;
    while (!this.#fields.has(found)) found = found.slice(0, found.lastIndexOf('/'));
    const field = this.#fields.get(found) ?? '';
    const below = at.slice(found.length + 1);
    if (!this.faults.has(field)) this.faults.set(field, below === '' ? message : `${placeWords(below)}: ${message}`);
  }

  #group(fields: readonly Field[], at: string, controls: Controls, shown: Controls): JsonObject {
    const entries: [string, JsonValue][] = [];
    for (const field of fields) {
      const name = pointer('', field.name).slice(1);
      const value = this.#value(field, `${at}/${name}`, controls.at(name), shown.at(name));
      if (value !== undefined) entries.push([field.name, value]);
    }
    return objectOf(entries);
  }

  #value(field: Field, at: string, controls: Controls, shown: Controls): JsonValue | undefined {
    this.#fields.set(foundPointer(at), at);
    const { texts } = controls;
    if (texts.length > 0) this.typed.set(at, texts);
    const faultsBefore = this.faults.size;
    const value = this.#read(field, at, controls, shown);
    if (field.default === undefined || !isUnchanged(controls, shown)) return value;
    if (this.faults.size === faultsBefore) return undefined;
    for (const fault of this.faults.keys()) if (fault === at || fault.startsWith(`${at}/`)) this.faults.delete(fault);
    return undefined;
  }

  #read(field: Field, at: string, controls: Controls, shown: Controls): JsonValue | undefined {
    const { texts } = controls;
    switch (field.kind) {
      case 'group':
        return this.#groupValue(field, at, controls, shown);
      case 'list':
        return this.#list(
          field,
          hasRows(field) ? this.#rows(field, at, controls) : this.#items(field, texts, at),
          texts,
        );
      case 'choice':
      case 'boolean':
        return this.#chosen(field, texts[0], at);
      default:
        return this.#written(field, texts[0] ?? '', at, shown.texts.length > 0 && texts.length > 0);
    }
  }

  #chosen(field: Field, text: string | undefined, at: string): JsonValue | undefined {
    if (text === undefined || text.trim() === '') {
      if (field.required && field.default === undefined) this.fault(at, NEEDS_CHOICE);
      return undefined;
    }
    const found = choiceOf(field.kind === 'choice' ? field.choices : BOOLEANS, field.nullable, text);
    if (found === undefined) this.fault(at, 'is none of the choices');
    return found;
  }

  #written(field: Field, text: string, at: string, emptied: boolean): JsonValue | undefined {
    if (text.trim() !== '') return valueOfText(field, zonedText(field, text));
    // A person who empties a control means no value, not the default that it showed.
    if (emptied && field.default !== undefined) {
      if (field.kind === 'text' && field.check('').ok) return '';
      if (field.nullable) return null;
    }
    const empty = valueOfText(field, '');
    if (empty === '' && (field.kind !== 'text' || !field.check('').ok)) this.fault(at, 'needs a value');
    return empty;
  }

  #items({ item }: ListField, texts: readonly string[], at: string): JsonValue[] {
    if (item.kind === 'choice') return this.#ticked(item, texts, at);
    const lines = (texts[0] ?? '').split('\n', LINES_MAX + 1).filter((line) => line.trim() !== '');
    const read = lines.slice(0, this.#linesLeft);
    this.#linesLeft -= read.length;
    if (read.length < lines.length) this.fault(at, `has too many lines: a page takes ${LINES_MAX}`);
    return read.flatMap((line) => {
      const value = valueOfText(item, zonedText(item, line));
      return value === undefined ? [] : [value];
    });
  }

  #ticked({ choices, nullable }: ChoiceField, texts: readonly string[], at: string): JsonValue[] {
    return texts.flatMap((text) => {
      const found = text === '' ? undefined : choiceOf(choices, nullable, text);
      if (found === undefined && text !== '') this.fault(at, 'has a value that is none of the choices');
      return found === undefined ? [] : [found];
    });
  }

  #rows({ item }: ListField, at: string, controls: Controls): JsonValue[] {
    const items: JsonValue[] = [];
    for (const row of controls.rows()) {
      // Each row has all fields of the item, of which few may have been posted.
      if (this.#fields.size > CONTROLS_MAX) {
        this.fault('', CONTROLS_TOO_MANY);
        break;
      }
      const value = this.#value(item, pointer(at, items.length), row, NO_DEFAULTS);
      if (value !== undefined) items.push(value);
    }
    return items;
  }

  /** Without items it is left out where it may be; an emptied one that had a default is empty. */
  #list({ required, nullable, default: fallback }: ListField, items: JsonValue[], texts: readonly string[]) {
    if (items.length > 0 || (required && !nullable) || (fallback !== undefined && texts.length > 0)) return items;
    return required ? null : undefined;
  }

  #groupValue(field: GroupField, at: string, controls: Controls, shown: Controls): JsonValue | undefined {
    if (!mayBeLeftOut(field)) return this.#group(field.fields, at, controls, shown);
    // Its own box is no value.
    const filled = field.fields.some(({ name }) => controls.at(pointer('', name).slice(1)).filled);
    if (filled || controls.texts.includes(GIVEN)) return this.#group(field.fields, at, controls, shown);
    for (const { name } of field.fields) this.#fields.set(foundPointer(pointer(at, name)), pointer(at, name));
    return field.required || (field.nullable && field.default !== undefined) ? null : undefined;
  }
}

const NO_DEFAULTS: Controls = postedControls([]).root;

function isUnchanged(controls: Controls, shown: Controls): boolean {
  const texts = controls.filledTexts();
  const defaults = shown.filledTexts();
  return texts.length === defaults.length && texts.every((text, at) => text === defaults[at]);
}

/** By its JSON, as radio buttons post it, or by its text, as people type it. */
function choiceOf(choices: readonly JsonValue[], nullable: boolean, text: string): JsonValue | undefined {
  if (nullable && text === 'null') return null;
  const named = choiceNames(choices);
  const word = text.trim();
  const value = jsonOf(word);
  if (value !== undefined && named.values.has(value)) return value;
  const same = named.objects.get(word);
  if (same !== undefined) return same;
  if (named.values.has(word)) return word;
  return nullable && word === 'null' ? null : undefined;
}

/** Undefined: no JSON. Most texts show it by their first character. */
function jsonOf(text: string): JsonValue | undefined {
  if (!/^["{[\dtf-]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

interface ChoiceNames {
  readonly values: ReadonlySet<JsonValue>;
  /** By their JSON. */
  readonly objects: ReadonlyMap<string, JsonValue>;
}

const BOOLEANS = [true, false];
/** A form may have hundreds of fields with hundreds of choices each, and pages thousands of boxes of one field. */
const namesOf = new WeakMap<readonly JsonValue[], ChoiceNames>();

function choiceNames(choices: readonly JsonValue[]): ChoiceNames {
  const known = namesOf.get(choices);
  if (known !== undefined) return known;
  const objects = choices.filter((choice) => typeof choice === 'object');
  const names = {
    values: new Set(choices),
    objects: new Map(objects.map((choice) => [JSON.stringify(choice), choice])),
  };
  namesOf.set(choices, names);
  return names;
}

/** Findings cut long names. */
function foundPointer(at: string): string {
  if (at.length <= FOUND_NAME_CHARACTERS_MAX) return at;
  const names = at.split('/').map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  return names.slice(1).reduce((before, name) => pointer(before, name.slice(0, FOUND_NAME_CHARACTERS_MAX)), '');
}

function placeWords(below: string): string {
  const [first = '', ...rest] = below.split('/');
  const item = /^\d+$/.test(first) ? `item ${Number(first) + 1}` : first.replaceAll('~1', '/').replaceAll('~0', '~');
  return [item, ...rest].join('/');
}
