// Shows the values of a question: short texts in line, lists of objects as tables, and long values cut with a link to
// the whole.
import { cutText } from '@methods/method/cut-text';
import { isJsonList, isJsonObject, type JsonObject, type JsonValue, nestsDeeperThan } from '@methods/method/json';
import { type Html, html } from './html.ts';

const SHORT_CHARACTERS_MAX = 200;
/** Shown before a person opens the rest. */
const TEXT_CHARACTERS_MAX = 1_000;
const ROWS_MAX = 10;
const COLUMNS_MAX = 12;
const CELL_CHARACTERS_MAX = 500;
/** For the page; beyond this, a value has its own page. */
const PAGE_CHARACTERS_MAX = 128 * 1024;
/** Per page: a worker may send many thousands. */
const VALUES_MAX = 200;
const PATH_CHARACTERS_MAX = 300;
/** Of a value on its own page: writing a megabyte of a hostile text takes a tenth of a second. */
const WHOLE_CHARACTERS_MAX = 320 * 1024;
/** A larger value is shown as its JSON, without being parsed. */
const READ_CHARACTERS_MAX = 256 * 1024;
const COLUMNS_READ_MAX = 1_000;
const LEVELS_MAX = 100;
const SPACED_CHARACTERS_MAX = 64 * 1024;
const SPACED_LEVELS_MAX = 10;

export interface ShownValue {
  readonly path: string;
  readonly valueJson: string;
}

/** Shows the first ones, long ones behind a summary. */
export function shownValues(show: readonly ShownValue[]): Html | null {
  if (show.length === 0) return null;
  let left = PAGE_CHARACTERS_MAX;
  const parts = show.slice(0, VALUES_MAX).map(({ path, valueJson }, at) => {
    const fits = valueJson.length <= left;
    if (fits) left -= valueJson.length;
    const value = fits ? valuePart(valueJson) : html`${tooLong(valueJson, at)}`;
    return html`<section class="shown"><h3 dir="auto">${cutText(path, PATH_CHARACTERS_MAX)}</h3>${value}</section>`;
  });
  const unshown = show.length - parts.length;
  const more = unshown > 0 ? html`<p class="quiet">${unshown} more values are in the run.</p>` : null;
  return html`<div class="values"><h2>Values</h2>${parts}${more}</div>`;
}

/** Shows one value on its own page. */
export function wholeValue({ path, valueJson }: ShownValue): Html {
  const value = readJson(valueJson);
  const text = typeof value === 'string' ? value : value === undefined ? valueJson : spacedJson(value, valueJson);
  const start = cutText(text, WHOLE_CHARACTERS_MAX);
  const cut = start === text ? null : html`<p class="quiet">The rest of it is in the run.</p>`;
  const name = cutText(path, PATH_CHARACTERS_MAX);
  return html`<h1 dir="auto">${name}</h1><p><a href="?">Back to the question</a></p><pre dir="auto">${start}</pre>${cut}`;
}

function tooLong(valueJson: string, at: number): Html {
  const text = cutText(valueJson, TEXT_CHARACTERS_MAX);
  return html`<pre dir="auto">${text}…</pre><p><a href="?show=${at}">Show all ${sizeWords(valueJson.length)}</a></p>`;
}

function valuePart(valueJson: string): Html {
  const value = readJson(valueJson);
  if (value === undefined) return textPart(valueJson);
  if (typeof value === 'string') return textPart(value);
  if (isJsonList(value) && value.length > 0 && value.every(isFlat)) return tablePart(value, valueJson);
  if (isFlat(value) && Object.keys(value).length > 0) return pairsPart(value, valueJson);
  if (typeof value === 'object' && value !== null) return textPart(spacedJson(value, valueJson));
  return html`<p class="text">${scalar(value)}</p>`;
}

/** Undefined: it is too long or too deep to parse here, or not JSON. */
function readJson(valueJson: string): JsonValue | undefined {
  if (valueJson.length > READ_CHARACTERS_MAX) return undefined;
  try {
    const value = JSON.parse(valueJson) as JsonValue;
    return nestsDeeperThan(value, LEVELS_MAX) ? undefined : value;
  } catch {
    return undefined;
  }
}

/** Writes one line for each value, unless that makes it many times as long. */
function spacedJson(value: JsonValue, valueJson: string): string {
  if (valueJson.length > SPACED_CHARACTERS_MAX || nestsDeeperThan(value, SPACED_LEVELS_MAX)) return valueJson;
  return JSON.stringify(value, null, 2);
}

function isFlat(value: JsonValue): value is JsonObject {
  return isJsonObject(value) && Object.values(value).every((each) => typeof each !== 'object' || each === null);
}

function scalar(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function textPart(text: string): Html {
  if (text.length <= SHORT_CHARACTERS_MAX && !text.includes('\n')) return html`<p class="text" dir="auto">${text}</p>`;
  if (text.length <= TEXT_CHARACTERS_MAX) return html`<pre dir="auto">${text}</pre>`;
  const start = cutText(text, TEXT_CHARACTERS_MAX);
  return html`<pre dir="auto">${start}…</pre>${behind(text.length, html`<pre dir="auto">${text}</pre>`)}`;
}

function behind(characters: number, all: Html): Html {
  return html`<details><summary>Show all ${sizeWords(characters)}</summary>${all}</details>`;
}

function sizeWords(characters: number): string {
  return `(${characters.toLocaleString('en')} characters)`;
}

function pairsPart(value: JsonObject, valueJson: string): Html {
  const pairs = Object.entries(value);
  if (pairs.length > ROWS_MAX) return textPart(spacedJson(value, valueJson));
  const rows = pairs.map(
    ([name, each]) => html`<tr><th scope="row" dir="auto">${name}</th><td dir="auto">${cell(each)}</td></tr>`,
  );
  return html`${scrolled(html`<tbody>${rows}</tbody>`)}${cutCells([value], value, valueJson)}`;
}

function tablePart(items: readonly JsonObject[], valueJson: string): Html {
  const names = new Set<string>();
  for (const item of items.slice(0, COLUMNS_READ_MAX)) {
    for (const name of Object.keys(item)) if (names.size <= COLUMNS_MAX) names.add(name);
  }
  if (names.size > COLUMNS_MAX || names.size === 0) return textPart(spacedJson(items, valueJson));
  const columns = [...names];
  const first = tableOf(columns, items.slice(0, ROWS_MAX));
  const cut = cutCells(items, items, valueJson);
  if (items.length <= ROWS_MAX) return html`${first}${cut}`;
  const summary = html`<summary>Show all ${items.length.toLocaleString('en')} rows</summary>`;
  return html`${first}<details>${summary}${tableOf(columns, items.slice(ROWS_MAX))}</details>${cut}`;
}

/** Links to the values for which a table has no room. */
function cutCells(items: readonly JsonObject[], value: JsonValue, valueJson: string): Html | null {
  const isCut = items.some((item) => Object.values(item).some((each) => scalar(each).length > CELL_CHARACTERS_MAX));
  return isCut ? behind(valueJson.length, html`<pre dir="auto">${spacedJson(value, valueJson)}</pre>`) : null;
}

function tableOf(columns: readonly string[], items: readonly JsonObject[]): Html {
  const head = columns.map((name) => html`<th scope="col" dir="auto">${name}</th>`);
  const rows = items.map((item) => {
    const cells = columns.map((name) => {
      const value = Object.hasOwn(item, name) ? item[name] : undefined;
      return html`<td dir="auto"${typeof value === 'number' ? NUMBER : null}>${cell(value)}</td>`;
    });
    return html`<tr>${cells}</tr>`;
  });
  return scrolled(html`<thead><tr>${head}</tr></thead><tbody>${rows}</tbody>`);
}

/** A wide table scrolls by itself, also with the keyboard. */
function scrolled(rows: Html): Html {
  return html`<div class="wide" tabindex="0" role="group" aria-label="Table"><table>${rows}</table></div>`;
}

const NUMBER = html` class="number"`;

function cell(value: JsonValue | undefined): string {
  const text = scalar(value);
  return text.length > CELL_CHARACTERS_MAX ? `${cutText(text, CELL_CHARACTERS_MAX)}…` : text;
}
