// Owns http steps: verb and URL, query, headers, body, accepted statuses, and what is taken from the response.
import type { HttpBody, HttpStep, HttpVerb, StepBase } from '../../compiled-method.ts';
import type { CompiledExpression, CompiledValue } from '../../compiled-value.ts';
import { pathOf } from '../../expression/narrowing.ts';
import type { SourceEntry, SourceMap, SourceNode } from '../../source/source-node.ts';
import { overlap } from '../../types/fits.ts';
import { FILE, isUnknown, membersOf, shortType, type Type } from '../../types/type.ts';
import { checkKeys } from '../check-keys.ts';
import { BODIES, HTTP_KEYS, VERBS } from '../keys.ts';
import { placeOf, type StepContext } from '../step-context.ts';
import { RESPONSE } from './http-response.ts';
import { isCredentialHeader, readAuth } from './read-auth.ts';
import { readUrl } from './read-url.ts';

type HttpFields = Omit<HttpStep, Exclude<keyof StepBase, 'secrets'>>;

const ACCEPTED_MAX = 50;
const NO_URL: CompiledValue = { kind: 'literal', value: '' };

export function readHttp(context: StepContext, entry: SourceEntry): HttpFields {
  const at = `${context.path}.http`;
  const empty: HttpFields = {
    kind: 'http',
    verb: 'get',
    url: NO_URL,
    query: null,
    headers: null,
    auth: null,
    body: { kind: 'none' },
    accept: [],
    take: null,
    keepsFile: false,
    secrets: [],
  };
  if (entry.value.kind !== 'map') {
    context.findings.add('M509', 'http is a mapping with a verb and its URL', at, entry.keyRange, {
      hint: 'for example  http: { get: "https://example.com" }',
    });
    return empty;
  }
  const http = entry.value;
  checkKeys(context.findings, http, HTTP_KEYS, at);
  const { verb, url } = readVerb(context, http, entry);
  const take = readTake(context, http.entries.get('take'));
  return {
    ...empty,
    verb,
    url,
    query: readNames(context, http.entries.get('query'), `${at}.query`, 'query'),
    headers: readNames(context, http.entries.get('headers'), `${at}.headers`, 'headers'),
    auth: readAuth(context, http.entries.get('auth'), `${at}.auth`),
    body: readBody(context, http, verb, entry),
    accept: readAccept(context, http.entries.get('accept')),
    take: take?.fields ?? null,
    keepsFile: take?.keepsFile ?? false,
    secrets: context.values.takeSecretNames(),
  };
}

function readVerb(context: StepContext, http: SourceMap, entry: SourceEntry): { verb: HttpVerb; url: CompiledValue } {
  const at = `${context.path}.http`;
  const given = VERBS.filter((verb) => http.entries.has(verb));
  const verb = given[0];
  const url = verb === undefined ? undefined : http.entries.get(verb);
  if (verb === undefined || url === undefined || given.length > 1) {
    const range = (given[1] === undefined ? undefined : http.entries.get(given[1])?.keyRange) ?? entry.keyRange;
    context.findings.add('M509', 'http needs exactly one of get, post, put, patch, delete, head', at, range, {
      hint: 'for example  get: https://example.com',
    });
    return { verb: verb ?? 'get', url: NO_URL };
  }
  return { verb, url: readUrl(context, url, `${at}.${verb}`) };
}

/** `query`, `headers`, `form`: names with scalar values; lists repeat a name except in headers; null leaves it out. */
function readNames(
  context: StepContext,
  entry: SourceEntry | undefined,
  path: string,
  what: 'query' | 'headers' | 'form',
): CompiledValue | null {
  if (!entry) return null;
  const place = placeOf(context, 'fields');
  const read = context.values.value(entry.value, path, place);
  const members = membersOf(read.type);
  const shape = members.length === 1 ? members[0] : undefined;
  if (shape?.kind === 'map') reportValues(context, shape.of, path, entry.value, what);
  else if (shape?.kind === 'object') {
    for (const [name, field] of shape.fields) {
      const own = entry.value.kind === 'map' ? entry.value.entries.get(name) : undefined;
      reportValues(context, field.type, `${path}.${name}`, own?.value ?? entry.value, what);
      if (what === 'headers') reportHeader(context, name, own, path);
    }
  } else if (!isUnknown(read.type)) {
    context.findings.add(
      what === 'form' ? 'M511' : 'M406',
      `${what} is a mapping of name: value`,
      path,
      entry.value.range,
      { hint: `for example  ${what}: { name: =inputs.value }` },
    );
  }
  return read.value;
}

function reportValues(context: StepContext, type: Type, path: string, node: SourceNode, what: string): void {
  const bad = membersOf(type).find((member) => {
    if (member.kind === 'list' && what !== 'headers') return membersOf(member.of).some((item) => !isScalarMember(item));
    return !isScalarMember(member);
  });
  if (bad)
    context.findings.add('M407', `a value of ${what} is text or a number, not ${shortType(bad)}`, path, node.range, {
      hint: 'use json(x) for the JSON text',
    });
}

function isScalarMember(member: ReturnType<typeof membersOf>[number]): boolean {
  return !['list', 'map', 'object', 'open', 'file'].includes(member.kind);
}

function reportHeader(context: StepContext, name: string, entry: SourceEntry | undefined, path: string): void {
  const { findings } = context;
  const range = entry?.keyRange;
  if (!range) return;
  if (!/^[\w!#$%&'*+.^`|~-]{1,100}$/.test(name))
    findings.add('M203', `"${name.slice(0, 40)}" is not a header name`, `${path}.${name}`, range, {
      hint: 'letters, digits and -, such as X-Trace',
    });
  const isExpression =
    entry.value.kind === 'scalar' && (entry.value.value === null || entry.value.text.startsWith('='));
  if (isCredentialHeader(name) && !isExpression) {
    findings.add(
      'M604',
      `credentials belong in auth, not in the ${name} header`,
      `${path}.${name}`,
      entry.value.range,
      {
        hint: 'write  auth: { bearer: NAME }  or  auth: { header: X-Api-Key, secret: NAME }',
      },
    );
  }
}

function readBody(context: StepContext, http: SourceMap, verb: HttpVerb, entry: SourceEntry): HttpBody {
  const { findings, values } = context;
  const at = `${context.path}.http`;
  const given = BODIES.filter((body) => http.entries.has(body));
  const kind = given[0];
  const body = kind === undefined ? undefined : http.entries.get(kind);
  if (kind === undefined || body === undefined) return { kind: 'none' };
  if (given.length > 1)
    findings.add('M511', 'http has one body: json, form, text or file', at, entry.keyRange, {
      hint: `keep ${given.join(' or ')}`,
    });
  if (verb === 'get' || verb === 'head')
    findings.add('M511', `${verb} sends no body`, `${at}.${kind}`, body.keyRange, { hint: 'use query, or post' });
  const place = placeOf(context, 'fields');
  if (kind === 'json') return { kind, value: values.value(body.value, `${at}.json`, place).value };
  if (kind === 'text') return { kind, value: values.text(body.value, `${at}.text`, place).value };
  if (kind === 'form') return { kind, value: readNames(context, body, `${at}.form`, 'form') ?? NO_URL };
  const file = values.value(body.value, `${at}.file`, place);
  if (
    !overlap(file.type, FILE) ||
    membersOf(file.type).some((member) => member.kind !== 'file' && !isUnknown(member))
  ) {
    findings.add('M511', `file takes a file, not ${shortType(file.type)}`, `${at}.file`, body.value.range, {
      hint: 'for example  file: =steps.report.pdf',
    });
  }
  return { kind, value: file.value };
}

function readAccept(context: StepContext, entry: SourceEntry | undefined): number[] {
  if (!entry) return [];
  const at = `${context.path}.http.accept`;
  const items = entry.value.kind === 'list' ? entry.value.items : [];
  const statuses = items.map((item) => (item.kind === 'scalar' ? item.value : null));
  const fine = statuses.filter(
    (status): status is number =>
      typeof status === 'number' && Number.isInteger(status) && status >= 100 && status <= 599,
  );
  if (entry.value.kind !== 'list' || fine.length !== statuses.length || fine.length > ACCEPTED_MAX) {
    context.findings.add('M803', 'accept is a list of statuses from 100 to 599', at, entry.value.range, {
      hint: 'for example  accept: [404]',
    });
  }
  return fine;
}

function readTake(
  context: StepContext,
  entry: SourceEntry | undefined,
): { fields: ReadonlyMap<string, CompiledExpression>; keepsFile: boolean } | undefined {
  if (!entry) return undefined;
  const { findings, values, outType } = context;
  const at = `${context.path}.http.take`;
  const fields = new Map<string, CompiledExpression>();
  let keepsFile = false;
  if (entry.value.kind !== 'map') {
    findings.add('M508', 'take is a mapping of field: expression', at, entry.value.range, {
      hint: 'for example  take: { id: response.body.data.id }',
    });
    return undefined;
  }
  for (const { key, keyRange, value } of entry.value.entries.values()) {
    const field = outType?.fields.get(key);
    if (!field)
      findings.add('M508', `take names "${key.slice(0, 40)}", which out does not declare`, `${at}.${key}`, keyRange, {
        hint: `add  ${key.slice(0, 40)}: <type>  under out`,
      });
    const read = values.expression(value, `${at}.${key}`, placeOf(context, 'none', RESPONSE));
    if (!read) continue;
    keepsFile ||= read.expression.paths.some((path) => path === 'response.file' || path.startsWith('response.file.'));
    if (field && !overlap(read.type, field.type)) {
      findings.add(
        'M406',
        `${pathOf(read.tree) ?? 'this'} is ${shortType(read.type)}, but out declares ${shortType(field.type)}`,
        `${at}.${key}`,
        value.range,
        { hint: `write  ${key}: ${shortType(read.type)}  under out` },
      );
    }
    fields.set(key, read.expression);
  }
  for (const [name, field] of outType?.fields ?? []) {
    if (!fields.has(name) && !entry.value.entries.has(name) && !field.optional && field.default === undefined) {
      findings.add('M102', `take gives no "${name}", which out requires`, at, entry.keyRange, {
        hint: `add  ${name}: response.body.${name}`,
      });
    }
  }
  return { fields, keepsFile };
}
