// Makes the controls of a form's fields: each with its label, its expected values, and its fault beside it.
import { choiceWords, labelOf } from '@methods/form/answer-words';
import { countWords, hintOf, isLong, listHint } from '@methods/form/control-words';
import type { ChoiceField, Field, GroupField, ListField, NumberField, TextField } from '@methods/form/field';
import { NEEDS_CHOICE } from '@methods/form/posted-answer';
import { CONTROLS_MAX } from '@methods/form/posted-controls';
import { GIVEN, hasRows, mayBeLeftOut, pointer, rowsTyped, type Typed } from '@methods/form/typed-values';
import { cutText } from '@methods/method/cut-text';
import type { JsonValue } from '@methods/method/json';
import { exact, type Html, html } from './html.ts';

export interface FormState {
  readonly typed: Typed;
  /** Maps the JSON Pointer of a field to its fault. */
  readonly faults: ReadonlyMap<string, string>;
  /** The list that gets another row; empty: none. */
  readonly grown: string;
}

/** With more choices than this, a drop-down list is used. */
const RADIOS_MAX = 12;
/** For the whole page: beyond this, a field takes the text of a choice. */
const CHOICES_MAX = 1_500;
const CHOICES_CHARACTERS_MAX = 256 * 1024;
/** Fields may share a type, and with it a long text. */
const DESCRIPTION_CHARACTERS_MAX = 1_000;
const DEFAULT_CHARACTERS_MAX = 100;
/** A fault names the choices that are missing. */
const NAMED_CHOICES_MAX = 3;
const BLANK_ROWS_MAX = 20;
/** For the whole page: beyond this, a list has only the rows with content, and a button for more. */
const BLANK_CONTROLS_MAX = 500;
/** The rows that are read, and the rest of the form. */
const SHOWN_MAX = CONTROLS_MAX + 1_000;
const LINE_CHARACTERS_MAX = 200;

/** The controls of one page. */
export class FormControls {
  /** By the field's pointer: the id of its first control, and its name with those of its containers. */
  readonly places = new Map<string, { readonly id: string; readonly words: string }>();
  /** By the pointer of a field without a choice: what must be chosen. */
  readonly choose = new Map<string, string>();
  /** A part of the form is not on the page. */
  isCut = false;
  private readonly rowsOf: ReadonlyMap<string, number>;
  private choicesLeft = CHOICES_MAX;
  private charactersLeft = CHOICES_CHARACTERS_MAX;
  private count = 0;

  constructor(private readonly state: FormState) {
    this.rowsOf = rowsTyped(state.typed);
  }

  fields(fields: readonly Field[], at = ''): Html[] {
    const shown: Html[] = [];
    for (const field of fields) {
      if (this.isFull()) break;
      shown.push(this.field(field, pointer(at, field.name), labelOf(field)));
    }
    return shown;
  }

  private isFull(): boolean {
    this.isCut ||= this.count >= SHOWN_MAX;
    return this.isCut;
  }

  private field(field: Field, at: string, label: string): Html {
    switch (field.kind) {
      case 'group':
        return this.group(field, at, label);
      case 'list':
        return this.list(field, at, label);
      case 'choice':
        return this.choice(field, at, label, field.choices);
      case 'boolean':
        return this.choice(field, at, label, [true, false]);
      default:
        return this.written(field, at, label);
    }
  }

  private written(field: Field, at: string, label: string): Html {
    const id = this.idOf(at, label);
    const text = this.text(at);
    const { hint, fault, described } = this.notes(field, at, id, hintOf(field));
    const shared = html`id="${id}" name="${exact(at)}"${described}`;
    const control = isLong(field, text)
      ? html`<textarea ${shared} rows="${field.kind === 'json' ? 8 : 4}"${field.kind === 'json' ? CODE : null}>
${exact(text)}</textarea>`
      : html`<input ${shared} ${inputKind(field, text)}>`;
    return this.box(
      fault !== null,
      html`<label for="${id}">${label}${optional(field)}</label>${hint}${fault}${control}`,
    );
  }

  private choice(field: Field, at: string, label: string, choices: readonly JsonValue[]): Html {
    const values = field.nullable ? [...choices, null] : choices;
    if (!this.hasRoomFor(values)) return this.written(field, at, label);
    const id = this.idOf(at, label);
    const words = choiceWords(values);
    const options = values.map((value, n) => ({ json: JSON.stringify(value), word: words[n] ?? '' }));
    const chosen = this.text(at);
    if (options.length > RADIOS_MAX) return this.select(field, at, { id, label, options, chosen });
    if (!field.required && field.default === undefined) options.push({ json: '', word: 'No answer' });
    return this.radios(field, at, { id, label, options, chosen });
  }

  private radios(field: Field, at: string, { id, label, options, chosen }: ChoiceParts): Html {
    if (this.state.faults.get(at) === NEEDS_CHOICE) this.nameChoices(at, options);
    const { hint, fault, described } = this.notes(field, at, id, '');
    const radios = options.map(({ json, word }, n) => {
      const own = n === 0 ? id : `${id}-${n}`;
      const checked = json === chosen && (json !== '' || this.state.typed.has(at)) ? CHECKED : null;
      return html`<label class="option"><input type="radio" id="${own}" name="${exact(at)}" value="${exact(json)}"${checked}> <span dir="auto">${word}</span></label>`;
    });
    const legend = html`<legend>${label}${optional(field)}</legend>`;
    return html`<fieldset class="${fieldClass(fault)}"${described}>${legend}${hint}${fault}<div class="options">${radios}</div></fieldset>`;
  }

  private nameChoices(at: string, options: ChoiceParts['options']): void {
    const names = options.map(({ word }) => word);
    const last = names.pop() ?? '';
    const words = names.length === 0 ? last : `${names.join(', ')} or ${last}`;
    if (options.length <= NAMED_CHOICES_MAX && words.length <= LINE_CHARACTERS_MAX)
      this.choose.set(at, `Choose ${words}.`);
  }

  private select(field: Field, at: string, { id, label, options, chosen }: ChoiceParts): Html {
    const { hint, fault, described } = this.notes(field, at, id, '');
    const all = options.map(
      ({ json, word }) => html`<option value="${exact(json)}"${json === chosen ? SELECTED : null}>${word}</option>`,
    );
    const control = html`<select id="${id}" name="${exact(at)}"${described}><option value="">Choose…</option>${all}</select>`;
    return this.box(
      fault !== null,
      html`<label for="${id}">${label}${optional(field)}</label>${hint}${fault}${control}`,
    );
  }

  private list(field: ListField, at: string, label: string): Html {
    if (hasRows(field)) return this.rows(field, at, label);
    if (field.item.kind === 'choice' && this.hasRoomFor(field.item.choices)) {
      return this.boxes(field, field.item, at, label);
    }
    const id = this.idOf(at, label);
    const { hint, fault, described } = this.notes(field, at, id, listHint(field));
    const control = html`<textarea id="${id}" name="${exact(at)}"${described} rows="4">
${exact(this.text(at))}</textarea>`;
    return this.box(
      fault !== null,
      html`<label for="${id}">${label}${optional(field)}</label>${hint}${fault}${control}`,
    );
  }

  private boxes(field: ListField, { choices }: ChoiceField, at: string, label: string): Html {
    const id = this.idOf(at, label);
    const { hint, fault, described } = this.notes(field, at, id, `Tick ${countWords(field, 'any number')}.`);
    const ticked = new Set(this.state.typed.get(at));
    const words = choiceWords(choices);
    const options = choices.map((choice, n) => {
      const json = JSON.stringify(choice);
      const own = n === 0 ? id : `${id}-${n}`;
      return html`<label class="option"><input type="checkbox" id="${own}" name="${exact(at)}" value="${exact(json)}"${ticked.has(json) ? CHECKED : null}> <span dir="auto">${words[n] ?? ''}</span></label>`;
    });
    const legend = html`<legend>${label}${optional(field)}</legend>`;
    return html`<fieldset class="${fieldClass(fault)}"${described}>${legend}${hint}${fault}${present(at)}<div class="options">${options}</div></fieldset>`;
  }

  private rows(field: ListField, at: string, label: string): Html {
    const id = this.idOf(at, label);
    const { hint, fault, described } = this.notes(field, at, id, `${countWords(field, 'Any number of')} items.`);
    const typed = this.rowsOf.get(at) ?? 0;
    const isGrown = this.state.grown === at;
    const most = field.maxItems ?? Number.POSITIVE_INFINITY;
    const filled = typed + (isGrown ? 1 : 0);
    const shown = Math.max(filled, Math.min(Math.max(1, field.minItems), BLANK_ROWS_MAX));
    const items: Html[] = [];
    for (let n = 0; n < Math.min(shown, Math.max(most, typed)); n++) {
      if (this.isFull() || (n >= filled && this.count >= BLANK_CONTROLS_MAX)) break;
      const row = pointer(at, n);
      const name = `${label} ${n + 1}`;
      const drop =
        n < typed
          ? html`<button class="small" name="do" value="${exact(`drop:${row}`)}">Remove ${name}</button>`
          : null;
      items.push(html`<div class="row">${this.field(field.item, row, name)}${drop}</div>`);
    }
    const more =
      items.length < most
        ? html`<button class="small" name="do" value="${exact(`add:${at}`)}">Add another</button>`
        : null;
    const focus = isGrown ? FOCUS : null;
    return html`<fieldset class="${fieldClass(fault)}" id="${id}" tabindex="-1"${described}${focus}><legend>${label}${optional(field)}</legend>${hint}${fault}${present(at)}${items}${more}</fieldset>`;
  }

  private group(field: GroupField, at: string, label: string): Html {
    const id = this.idOf(at, label);
    const { hint, fault, described } = this.notes(field, at, id, '');
    const given = this.state.typed.get(at)?.includes(GIVEN) ? CHECKED : null;
    // If it needs a value of a field, the text says that too.
    const box =
      mayBeLeftOut(field) && field.fields.every(({ required }) => !required)
        ? html`<label class="option"><input type="checkbox" id="${id}" name="${exact(at)}" value="${GIVEN}"${given}> <span>Include it even if its fields are empty</span></label>`
        : null;
    const own = box === null ? html` id="${id}" tabindex="-1"` : null;
    return html`<fieldset class="${fieldClass(fault)}"${own}${described}><legend>${label}${optional(field)}</legend>${hint}${fault}${box}${this.fields(field.fields, at)}</fieldset>`;
  }

  private notes(field: Field, at: string, id: string, words: string): Notes {
    const described = cutText(field.description ?? '', DESCRIPTION_CHARACTERS_MAX);
    const texts = [ended(described), words, this.unlessGiven(field, at)].filter((text) => text !== '');
    const message = this.state.faults.get(at);
    const hint = texts.length === 0 ? null : html`<p class="hint" id="${id}-hint" dir="auto">${texts.join(' ')}</p>`;
    const fault =
      message === undefined
        ? null
        : html`<p class="fault" id="${id}-fault"><span class="unseen">Error: </span>${this.choose.get(at) ?? `${labelOf(field)} ${message}`}</p>`;
    const by = [hint && `${id}-hint`, fault && `${id}-fault`].filter((each) => each !== null).join(' ');
    const isControl = field.kind !== 'group' && !(field.kind === 'list' && hasRows(field));
    const attributes = html`${by === '' ? null : html` aria-describedby="${by}"`}${fault !== null && isControl && isSingle(field) ? INVALID : null}`;
    return { hint, fault, described: attributes };
  }

  /** Describes what counts for a field that does not show its default. */
  private unlessGiven({ default: fallback }: Field, at: string): string {
    if (fallback === undefined || this.state.typed.has(at)) return '';
    const text = JSON.stringify(fallback);
    return text.length > DEFAULT_CHARACTERS_MAX ? '' : `${text} unless given.`;
  }

  private hasRoomFor(choices: readonly JsonValue[]): boolean {
    this.choicesLeft -= choices.length;
    if (this.choicesLeft < 0 || this.charactersLeft < 0) return false;
    for (const choice of choices) {
      this.charactersLeft -= typeof choice === 'string' ? choice.length : JSON.stringify(choice).length;
      if (this.charactersLeft < 0) return false;
    }
    return true;
  }

  private box(isWrong: boolean, content: Html): Html {
    return html`<div class="field${isWrong ? ' wrong' : ''}">${content}</div>`;
  }

  private text(at: string): string {
    return this.state.typed.get(at)?.[0] ?? '';
  }

  private idOf(at: string, label: string): string {
    const id = `f${++this.count}`;
    const above = this.places.get(at.slice(0, at.lastIndexOf('/')));
    // A row's label already names its list.
    const isRow = /\/\d+$/.test(at) && above !== undefined && label.startsWith(above.words);
    this.places.set(at, { id, words: above === undefined || isRow ? label : `${above.words}, ${label}` });
    return id;
  }
}

interface ChoiceParts {
  readonly id: string;
  readonly label: string;
  readonly options: readonly { readonly json: string; readonly word: string }[];
  readonly chosen: string;
}

interface Notes {
  readonly hint: Html | null;
  readonly fault: Html | null;
  readonly described: Html;
}

const CHECKED = html` checked`;
const SELECTED = html` selected`;
const INVALID = html` aria-invalid="true"`;
const CODE = html` class="code" spellcheck="false"`;
const FOCUS = html` autofocus`;

/** Reports whether the fault applies to a single control. */
function isSingle({ kind }: Field): boolean {
  return kind === 'text' || kind === 'number' || kind === 'json' || kind === 'list';
}

/** Ends the text so that another sentence may follow. */
function ended(text: string): string {
  return text === '' || /[\p{P}\p{S}]$/u.test(text) ? text : `${text}.`;
}

function fieldClass(fault: Html | null): string {
  return fault === null ? 'field' : 'field wrong';
}

/** Notes that a list without items was on the page. */
function present(at: string): Html {
  return html`<input type="hidden" name="${exact(at)}" value="">`;
}

function optional(field: Field): Html | null {
  return field.required ? null : html` <span class="quiet">(optional)</span>`;
}

function inputKind(field: Field, text: string): Html {
  const value = html`value="${exact(text)}"`;
  if (field.kind === 'number') return html`type="text" inputmode="${inputMode(field)}" autocomplete="off" ${value}`;
  if (field.kind !== 'text') return html`type="text" autocomplete="off" ${value}`;
  return html`${timeInput(field, text) ?? html`type="text"${TYPING[field.format ?? ''] ?? null} ${value}`} autocomplete="off"`;
}

function inputMode({ integer, minimum }: NumberField): string {
  // The number keyboard of a phone has no minus sign.
  return minimum === null || minimum < 0 ? 'text' : integer ? 'numeric' : 'decimal';
}

const TYPING: Readonly<Record<string, Html>> = {
  email: html` inputmode="email" spellcheck="false"`,
  uri: html` inputmode="url" spellcheck="false"`,
};

/** A picker of the browser; null if it would lose what is typed. */
function timeInput({ format }: TextField, text: string): Html | null {
  if (format === 'date' && /^(\d{4}-\d\d-\d\d)?$/.test(text)) return html`type="date" value="${text}"`;
  if (format !== 'date-time') return null;
  const found = /^(?:(\d{4}-\d\d-\d\dT\d\d:\d\d)(?::00)?Z?)?$/.exec(text);
  return found === null ? null : html`type="datetime-local" value="${found[1] ?? ''}"`;
}
