// Owns the draft of a Chrome Recorder file: one browser step that repeats the recorded steps, with checks of the pages
// they led to.
import { literalText, shorten } from '../draft/method-text.ts';
import { snakeName } from '../draft/names.ts';
import { isJsonObject, type JsonObject, type JsonValue, objectOf, ownField } from '../json.ts';
import type { RecordingDraft } from './har-draft.ts';
import { listAt, textAt } from './read-har.ts';
import { RecordedValues } from './recorded-values.ts';
import { namesSecret, withoutSecrets } from './secret-words.ts';
import { fieldWords, type Selector, selectorsOf, selectorText, writeSelectors } from './selectors.ts';

type Action = readonly [verb: string, value: JsonValue];

// They say how the window looked, not what was done.
const IGNORED = new Set(['setViewport', 'keyUp', 'scroll', 'emulateNetworkConditions', 'close', 'hover']);
const STEP = 'browse';
/** Per step; the language allows no more. */
const CHECKS_MAX = 100;
const EXPECTED_CHARACTERS_MAX = 2_000;

/**
 * Drafts a Recorder file of at most 2,000 steps. The browser step holds `start` (an address) and `do`, a list of one-key
 * mappings: `goto: address`, `click`, `double_click` and `wait_for: { on, target?, frame? }`, `fill: { on, value, … }`,
 * `press: key`, `type: text`, `read: { field: page.url | page.title }`. `on` lists selectors, to be tried in order; one
 * that is a list itself leads through shadow roots.
 */
export function draftRecorder(recording: JsonObject): RecordingDraft {
  const drafter = new RecorderDrafter();
  for (const step of listAt(recording, 'steps')) if (isJsonObject(step)) drafter.foresee(step);
  for (const [index, step] of listAt(recording, 'steps').entries()) {
    if (isJsonObject(step)) drafter.add(step, `steps[${index}]`);
    else drafter.leaveOut('something that is no step', `steps[${index}]`);
  }
  return drafter.finish(textAt(recording, 'title').trim() || 'browser recording');
}

class RecorderDrafter {
  readonly #values = new RecordedValues();
  readonly #actions: Action[] = [];
  readonly #out: (readonly [string, string])[] = [];
  readonly #checks: JsonObject[] = [];
  #start: string | undefined;
  #pages = 0;
  /** Characters typed one by one; a password may be typed so, and is never kept. */
  #typed = 0;

  add(step: JsonObject, place: string): void {
    const type = textAt(step, 'type');
    if (type === 'keyDown' && textAt(step, 'key').length === 1) {
      this.#typed++;
      return;
    }
    if (IGNORED.has(type)) return;
    this.#endTyping(place);
    const selectors = selectorsOf(step);
    switch (type) {
      case 'navigate':
        this.#navigate(textAt(step, 'url'));
        break;
      case 'click':
      case 'doubleClick':
        this.#act(type === 'click' ? 'click' : 'double_click', step, selectors, place);
        break;
      case 'change':
        this.#fill(step, selectors, place);
        break;
      case 'keyDown':
        this.#actions.push(['press', literalText(shorten(textAt(step, 'key'), 50))]);
        break;
      case 'waitForElement':
        this.#act('wait_for', step, selectors, place);
        break;
      default:
        this.leaveOut(`a step of type "${shorten(type, 40)}"`, place);
    }
    for (const event of listAt(step, 'assertedEvents')) if (isJsonObject(event)) this.#expect(event, place);
  }

  /** A password may be typed into other fields too, before or after its own. */
  foresee(step: JsonObject): void {
    if (textAt(step, 'type') === 'change' && isSecretField(selectorsOf(step)))
      this.#values.foresee('password', textAt(step, 'value'));
  }

  leaveOut(what: string, place: string): void {
    this.#values.findings.push({ code: 'step_left_out', message: `left out ${what}`, place });
  }

  finish(title: string): RecordingDraft {
    this.#endTyping('');
    const fields: (readonly [string, JsonValue])[] = [];
    if (this.#values.inputNames.length > 0) fields.push(['inputs', this.#values.inputs]);
    if (this.#values.secretNames.length > 0) fields.push(['secrets', this.#values.secrets]);
    const actions = this.#actions.map(([verb, value]) => objectOf([[verb, value]]));
    const start: JsonObject = this.#start === undefined ? {} : { start: this.#start };
    const step: (readonly [string, JsonValue])[] = [
      ['name', STEP],
      ['browser', { ...start, do: actions }],
    ];
    if (this.#out.length > 0) step.push(['out', objectOf(this.#out)], ['ensure', this.#checks]);
    step.push(['on_interrupt', 'ask']);
    fields.push(['steps', [objectOf(step)]]);
    return {
      title,
      body: actions.length === 0 && this.#start === undefined ? null : objectOf(fields),
      inputs: this.#values.inputNames,
      secrets: this.#values.secretNames,
      findings: this.#values.findings,
    };
  }

  #navigate(url: string): void {
    if (!/^https?:/i.test(url) || !URL.canParse(url)) return;
    const address = literalText(withoutSecrets(url));
    if (this.#start === undefined && this.#actions.length === 0) this.#start = address;
    else this.#actions.push(['goto', address]);
  }

  #act(verb: string, step: JsonObject, selectors: readonly Selector[], place: string): void {
    if (selectors.length === 0) this.leaveOut(`a ${verb} without selectors`, place);
    else this.#actions.push([verb, { on: writeSelectors(selectors), ...placeInPages(step) }]);
  }

  #fill(step: JsonObject, selectors: readonly Selector[], place: string): void {
    const value = textAt(step, 'value');
    if (selectors.length === 0) return this.leaveOut('a change without selectors', place);
    const words = fieldWords(selectors);
    const name = snakeName(words, 'field');
    const isSecret = isSecretField(selectors) || this.#values.isSecret(value);
    const given = isSecret
      ? `=secrets.${this.#values.secret(namesSecret(name) ? name : 'password', value, `Typed into ${words || 'a field'}`)}`
      : (this.#values.input(name, value, STEP) ?? literalText(value));
    this.#actions.push(['fill', { on: writeSelectors(selectors), value: given, ...placeInPages(step) }]);
  }

  #endTyping(place: string): void {
    if (this.#typed === 0) return;
    this.#typed = 0;
    this.#actions.push(['type', this.#values.inputWithoutExample('typed', 'string')]);
    this.#values.findings.push({
      code: 'example_left_out',
      message: 'keys typed one by one became the input "typed"',
      place,
    });
  }

  /** An asserted navigation: the page's address and title are read, and checked after the step. */
  #expect(event: JsonObject, place: string): void {
    if (textAt(event, 'type') !== 'navigation') return;
    const number = ++this.#pages;
    for (const what of ['url', 'title'] as const) {
      const expected = what === 'url' ? withoutSecrets(textAt(event, what)) : textAt(event, what);
      if (expected === '') continue;
      if (this.#checks.length === CHECKS_MAX || expected.length > EXPECTED_CHARACTERS_MAX) {
        this.leaveOut(`the check of a page's ${what === 'url' ? 'address' : 'title'}`, place);
        continue;
      }
      const field = `${what}_${number}`;
      this.#actions.push(['read', { [field]: `page.${what}` }]);
      this.#out.push([field, 'string']);
      const sentence =
        what === 'url' ? `Page ${number} has the recorded address` : `Page ${number} has the recorded title`;
      this.#checks.push(objectOf([[sentence, `out.${field} == ${JSON.stringify(expected)}`]]));
    }
  }
}

function isSecretField(selectors: readonly Selector[]): boolean {
  const text = selectorText(selectors).slice(0, 5_000);
  return (
    /type=["']?password/i.test(text) ||
    namesSecret(snakeName(fieldWords(selectors), 'field')) ||
    namesSecret(snakeName(text, 'x'))
  );
}

/** The tab and the frames of a step, where it is not the page itself. */
function placeInPages(step: JsonObject): JsonObject {
  const target = textAt(step, 'target');
  const frame = listAt(step, 'frame').filter((index) => Number.isSafeInteger(index));
  return {
    ...(target === '' || target === 'main' ? {} : { target: literalText(target) }),
    ...(frame.length === 0 ? {} : { frame }),
  };
}

/** True for what Chrome Recorder exports. */
export function isRecorderFile(recording: JsonObject): boolean {
  const steps = ownField(recording, 'steps');
  return Array.isArray(steps) && steps.some((step) => isJsonObject(step) && textAt(step, 'type') !== '');
}
