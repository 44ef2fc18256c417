// Owns the draft of a HAR recording: its steps in order, the login that is left out, and the method around them.
import { NameBook, snakeName } from '../draft/names.ts';
import { containsText } from '../expression/find-text.ts';
import { isJsonList, isJsonObject, type JsonObject, type JsonValue, objectOf, ownField } from '../json.ts';
import { stepNameOf } from './http-address.ts';
import { type HttpDraft, httpDraft } from './http-step.ts';
import { type Exchange, type ExchangeBody, listAt, objectAt, readExchange, textAt } from './read-har.ts';
import { RecordedValues } from './recorded-values.ts';
import type { RecordingFinding } from './recording-finding.ts';
import { namesPassword } from './secret-words.ts';
import { type SelectedExchange, selectExchanges } from './select-exchanges.ts';

export interface RecordingDraft {
  /** The recording's own title. */
  readonly title: string;
  /** The method without its header; null when nothing is left. */
  readonly body: JsonObject | null;
  readonly inputs: readonly string[];
  readonly secrets: readonly string[];
  readonly findings: readonly RecordingFinding[];
}

const STEPS_MAX = 200;
const FIELDS_MAX = 5_000;
const LEVELS_MAX = 20;

/** Drafts a HAR log of at most 20,000 entries. */
export function draftHar(log: JsonObject): RecordingDraft {
  const findings: RecordingFinding[] = [];
  const exchanges = listAt(log, 'entries').flatMap((entry, index): Exchange[] => {
    const exchange = readExchange(entry, index);
    if (exchange) return [exchange];
    findings.push({ code: 'unreadable_entry', message: 'left out: no http request', place: `log.entries[${index}]` });
    return [];
  });
  const pages = listAt(log, 'pages').filter(isJsonObject);
  const firstPage = pages[0] ? textAt(pages[0], 'id') : '';
  const { selected, findings: left } = selectExchanges(exchanges, firstPage);
  findings.push(...left);
  if (selected.length > STEPS_MAX) {
    findings.push({
      code: 'too_many_steps',
      message: `only the first ${STEPS_MAX} of ${selected.length} requests are kept`,
      place: '',
    });
  }
  const kept = selected.slice(0, STEPS_MAX);
  let draft = stepsOf(kept, exchanges);
  const login = loginOf(kept, draft);
  if (login) {
    draft = stepsOf(
      kept.filter((exchange) => exchange !== login),
      exchanges,
    );
    findings.push({
      code: 'login_left_out',
      message: 'left out the login: its only use was the token, a declared secret now',
      place: login.place,
    });
  }
  findings.push(...draft.values.findings, ...cookieFindings(draft.steps));
  return {
    title: titleOf(pages[0], exchanges[0]),
    body: draft.steps.length === 0 ? null : bodyOf(draft),
    inputs: draft.values.inputNames,
    secrets: draft.values.secretNames,
    findings,
  };
}

interface HarSteps {
  readonly steps: readonly HttpDraft[];
  readonly values: RecordedValues;
}

function stepsOf(selected: readonly SelectedExchange[], all: readonly Exchange[]): HarSteps {
  const values = new RecordedValues();
  for (const exchange of all) for (const [name, value] of passwordsOf(exchange)) values.foresee(name, value);
  const names = new NameBook();
  const steps = selected.map((exchange) => {
    const step = httpDraft(exchange, names.take(stepNameOf(exchange, values)), values);
    values.answers.add(step.name, exchange.answers);
    return step;
  });
  return { steps, values };
}

/** A request with a password whose answer holds the token sent later, and of which nothing else is used. */
function loginOf(selected: readonly SelectedExchange[], { steps, values }: HarSteps): SelectedExchange | undefined {
  return selected.find((exchange, index) => {
    const name = steps[index]?.name ?? '';
    if (exchange.method === 'GET' || values.answers.taken(name) !== undefined || !sendsPassword(exchange)) return false;
    const answers = JSON.stringify(exchange.answers);
    return selected.slice(index + 1).some(({ headers }) => {
      const token = headers.get('authorization')?.split(' ').at(-1) ?? headers.get('x-auth-token') ?? '';
      return token.length >= 8 && containsText(answers, JSON.stringify(token).slice(1, -1));
    });
  });
}

function sendsPassword({ body }: SelectedExchange): boolean {
  return fieldsOf(body).some(([name]) => namesPassword(name) || /(?:^|_)refresh_token$/.test(name));
}

function passwordsOf({ body }: Exchange): (readonly [name: string, value: string])[] {
  return fieldsOf(body).filter(([name]) => namesPassword(name));
}

/** Names in snake case with their texts, at any depth that people use. */
function fieldsOf(body: ExchangeBody): (readonly [name: string, value: string])[] {
  if (body.kind === 'form') return body.fields.map(([name, value]) => [snakeName(name, 'x'), value] as const);
  const found: (readonly [string, string])[] = [];
  const visit = (value: JsonValue, name: string, levels: number): void => {
    if (typeof value === 'string') found.push([name, value]);
    else if (typeof value === 'object' && value !== null && levels > 0 && found.length < FIELDS_MAX) {
      for (const [key, item] of Object.entries(value))
        visit(item, isJsonList(value) ? name : snakeName(key, 'x'), levels - 1);
    }
  };
  if (body.kind === 'json') visit(body.value, 'body', LEVELS_MAX);
  return found;
}

function cookieFindings(steps: readonly HttpDraft[]): RecordingFinding[] {
  const withCookies = steps.filter(
    ({ exchange, http }) => exchange.headers.has('cookie') && ownField(http, 'auth') === undefined,
  );
  if (withCookies.length === 0) return [];
  const names = withCookies.slice(0, 5).map(({ name }) => name);
  const more = withCookies.length > names.length ? ` and ${withCookies.length - names.length} more` : '';
  return [
    {
      code: 'cookies',
      message: `the browser was logged in by cookies, which are not kept: give ${names.join(', ')}${more} an API token in auth`,
      place: withCookies[0]?.exchange.place ?? '',
    },
  ];
}

function titleOf(page: JsonObject | undefined, first: Exchange | undefined): string {
  const title = page ? textAt(page, 'title').trim() : '';
  // Chrome writes the address of the page here.
  if (title !== '' && !/^\w+:\/\//.test(title)) return title;
  return `${first?.url.hostname ?? ''} recording`;
}

function bodyOf({ steps, values }: HarSteps): JsonObject {
  const fields: (readonly [string, JsonValue])[] = [];
  if (values.inputNames.length > 0) fields.push(['inputs', values.inputs]);
  if (values.secretNames.length > 0) fields.push(['secrets', values.secrets]);
  fields.push(['steps', steps.map((step) => writeStep(step, values))]);
  return objectOf(fields);
}

function writeStep({ name, http, status, exchange }: HttpDraft, values: RecordedValues): JsonObject {
  const taken = values.answers.taken(name) ?? new Map();
  // Fields found by their name need no take; but a take must name all of them.
  const isDirect = [...taken].every(([field, { path }]) => path === `.${field}`);
  const take = objectOf(Array.from(taken, ([field, { path }]) => [field, `response.body${path}`]));
  const expected = status === null ? 'response.status < 400' : `response.status == ${status}`;
  const sentence = status === null ? `${name} is accepted` : `${name} answers ${status}`;
  const fields: (readonly [string, JsonValue])[] = [
    ['name', name],
    ['http', isDirect ? http : { ...http, take }],
  ];
  if (taken.size > 0) fields.push(['out', objectOf(Array.from(taken, ([field, { type }]) => [field, type]))]);
  fields.push(['ensure', [objectOf([[sentence, expected]])]]);
  if (exchange.method !== 'GET' && exchange.method !== 'HEAD') fields.push(['on_interrupt', 'ask']);
  return objectOf(fields);
}

/** True for the `log` of a HAR file. */
export function harLog(recording: JsonObject): JsonObject | undefined {
  const log = objectAt(recording, 'log');
  return Array.isArray(ownField(log, 'entries')) ? log : undefined;
}
