// Owns the keys of an ask step for who answers its question and when: `to` to `on_timeout`. They are literals, since the
// service keeps them as rules of the run (M518 to M522).
import { ANSWERERS_MAX, type AnswerPolicy, type NeededAnswers, ROLES, tooFewText } from '../../answer-policy.ts';
import { nearest } from '../../source/did-you-mean.ts';
import type { Findings } from '../../source/findings.ts';
import type { SourceEntry, SourceMap, SourceNode } from '../../source/source-node.ts';
import { hasFormat } from '../../types/formats.ts';
import { membersOf, type ObjectType } from '../../types/type.ts';
import { checkKeys } from '../check-keys.ts';
import { ESCALATE_KEYS, NEEDS_KEYS, POLICY_KEYS } from '../keys.ts';
import { type GivenDuration, readCount, readDuration } from '../read-amount.ts';
import type { StepContext } from '../step-context.ts';
import { readTimeoutAnswer } from './read-timeout-answer.ts';

const DAY_MS = 86_400_000;
const TIMES = [1_000, 365 * DAY_MS] as const;
const REMINDERS_MAX = 10;

/** The policy of a question; null where the step has none of these keys. */
export function readAnswerPolicy(context: StepContext, ask: SourceMap, at: string): AnswerPolicy | null {
  const { findings } = context;
  const entry = (key: string) => ask.entries.get(key);
  if (!POLICY_KEYS.some((key) => entry(key))) return null;
  const policy: AnswerPolicy = {
    to: readAnswerers(findings, entry('to'), `${at}.to`),
    notStarter: readFlag(context, entry('not_starter'), `${at}.not_starter`),
    needs: readNeeds(context, entry('needs'), `${at}.needs`),
    remindMs: readReminders(context, entry('remind'), `${at}.remind`),
    escalate: readEscalation(context, entry('escalate'), `${at}.escalate`),
    timeoutAnswer: readTimeoutAnswer(context, entry('on_timeout'), `${at}.on_timeout`),
  };
  warnOfTooFew(context, policy, entry('needs'), `${at}.needs`);
  return policy;
}

function readFlag({ findings }: StepContext, entry: SourceEntry | undefined, path: string): boolean {
  if (!entry) return false;
  const value = entry.value.kind === 'scalar' ? entry.value.value : null;
  if (typeof value === 'boolean') return value;
  findings.add('M105', 'not_starter is true or false', path, entry.value.range, { hint: 'write  not_starter: true' });
  return false;
}

function readNeeds(context: StepContext, entry: SourceEntry | undefined, path: string): NeededAnswers | null {
  if (!entry) return null;
  const { findings } = context;
  const between = [1, ANSWERERS_MAX] as const;
  if (entry.value.kind !== 'map') {
    const count = readCount(findings, entry, path, 'needs', between);
    return count === undefined ? null : { count, on: decidingFields(context.outType) };
  }
  checkKeys(findings, entry.value, NEEDS_KEYS, path);
  const given = entry.value.entries.get('count');
  if (!given)
    findings.add('M102', 'needs has no count', path, entry.keyRange, { hint: 'for example  needs: { count: 2 }' });
  const count = readCount(findings, given, `${path}.count`, 'count', between);
  const on = readFields(context, entry.value.entries.get('on'), `${path}.on`);
  return count === undefined ? null : { count, on: on ?? decidingFields(context.outType) };
}

/** The choice and boolean fields of an answer: people seldom write the same text twice. */
function decidingFields(out: ObjectType | null): string[] {
  if (out === null) return [];
  const decides = (name: string) => {
    const type = out.fields.get(name)?.type;
    const members = type === undefined ? [] : membersOf(type).filter(({ kind }) => kind !== 'null');
    return members.length > 0 && members.every(({ kind }) => kind === 'choice' || kind === 'boolean');
  };
  return [...out.fields.keys()].filter(decides);
}

function readFields(context: StepContext, entry: SourceEntry | undefined, path: string): string[] | undefined {
  if (!entry) return undefined;
  const { findings, outType } = context;
  const declared = [...(outType?.fields.keys() ?? [])];
  const example = `for example  on: [${declared[0] ?? 'decision'}]`;
  if (entry.value.kind !== 'list' || entry.value.items.length === 0) {
    findings.add('M508', 'on is a list of fields of out', path, entry.value.range, { hint: example });
    return undefined;
  }
  const fields = new Set<string>();
  for (const [index, item] of entry.value.items.entries()) {
    if (findings.enough) break;
    const name = item.kind === 'scalar' ? item.text : '';
    const at = `${path}[${index}]`;
    if (!declared.includes(name)) {
      findings.add('M508', `on names "${name.slice(0, 40)}", which out does not declare`, at, item.range, {
        hint: () => {
          const near = nearest(name, declared);
          return near === undefined ? example : `did you mean "${near}"?`;
        },
      });
    } else if (fields.has(name))
      findings.add('M003', `"${name}" is listed twice`, at, item.range, { hint: 'remove one of the two' });
    else fields.add(name);
  }
  return [...fields];
}

function readReminders(context: StepContext, entry: SourceEntry | undefined, path: string): number[] {
  if (!entry) return [];
  const { findings } = context;
  const isList = entry.value.kind === 'list';
  const items = entry.value.kind === 'list' ? entry.value.items : [entry.value];
  if (items.length === 0 || items.length > REMINDERS_MAX) {
    findings.add('M803', `remind has 1 to ${REMINDERS_MAX} times`, path, entry.value.range, {
      hint: 'for example  remind: [1h, 1d]',
    });
    return [];
  }
  const reminders = new Set<number>();
  for (const [index, value] of items.entries()) {
    const at = isList ? `${path}[${index}]` : path;
    const time = readDuration(findings, { ...entry, value }, at, TIMES);
    if (time === undefined || !isInTime(context, time, { ...entry, value }, at, 'the reminder')) continue;
    if (reminders.has(time.ms))
      findings.add('M003', `the reminder after ${time.text} is listed twice`, at, value.range, {
        hint: 'remove one of the two',
      });
    reminders.add(time.ms);
  }
  return [...reminders].sort((a, b) => a - b);
}

function readEscalation(context: StepContext, entry: SourceEntry | undefined, path: string): AnswerPolicy['escalate'] {
  if (!entry) return null;
  const { findings } = context;
  const hint = 'for example  escalate: { after: 2d, to: admin }';
  if (entry.value.kind !== 'map') {
    findings.add('M102', 'escalate needs after and to', path, entry.value.range, { hint });
    return null;
  }
  checkKeys(findings, entry.value, ESCALATE_KEYS, path);
  const [after, to] = ['after', 'to'].map((key) => {
    const given = entry.value.kind === 'map' ? entry.value.entries.get(key) : undefined;
    if (!given) findings.add('M102', `escalate needs ${key}`, path, entry.keyRange, { hint });
    return given;
  });
  const time = readDuration(findings, after, `${path}.after`, TIMES);
  const answerers = readAnswerers(findings, to, `${path}.to`);
  if (!after || !time || !isInTime(context, time, after, `${path}.after`, 'the escalation')) return null;
  return { afterMs: time.ms, to: answerers };
}

/** M519: what comes at or after the deadline never comes. */
function isInTime(
  { findings, ownLimits }: StepContext,
  time: GivenDuration,
  entry: SourceEntry,
  path: string,
  what: string,
): boolean {
  const deadline = ownLimits.timeout;
  if (deadline === undefined || time.ms < deadline.ms) return true;
  findings.add(
    'M519',
    `${what} comes after ${time.text}, the deadline after ${deadline.text}`,
    path,
    entry.value.range,
    {
      hint: `write less than ${deadline.text}, or raise limits: { timeout: ${deadline.text} }`,
    },
  );
  return false;
}

/** M522, where the addresses in the source already show it. The registry knows the people behind roles. */
function warnOfTooFew(
  { findings }: StepContext,
  { needs, to, escalate }: AnswerPolicy,
  entry: SourceEntry | undefined,
  path: string,
): void {
  const people = new Set([...to, ...(escalate?.to ?? [])]);
  if (!entry || needs === null || to.length === 0 || needs.count <= people.size) return;
  if ([...people].some((answerer) => !answerer.includes('@'))) return;
  findings.warn(
    'M522',
    tooFewText(needs.count, people.size),
    path,
    entry.value.range,
    'add people to to, or need fewer',
  );
}

// Lists of answerers: e-mail addresses and roles (M518).

const EXAMPLE = 'for example  to: [admin, ann@example.com]';
const SHOWN_CHARACTERS_MAX = 80;

/** Addresses in lower case and roles, each once; empty without the key, or with a finding. A single one needs no list. */
function readAnswerers(findings: Findings, entry: SourceEntry | undefined, path: string): string[] {
  if (!entry) return [];
  const isList = entry.value.kind === 'list';
  const items = entry.value.kind === 'list' ? entry.value.items : [entry.value];
  if (entry.value.kind === 'map') {
    findings.add('M518', 'to is a list of e-mail addresses and roles', path, entry.value.range, { hint: EXAMPLE });
    return [];
  }
  if (items.length === 0 || items.length > ANSWERERS_MAX) {
    findings.add('M803', `to has 1 to ${ANSWERERS_MAX} addresses and roles`, path, entry.value.range, {
      hint: items.length === 0 ? EXAMPLE : 'name a role instead of every person',
    });
    return [];
  }
  const answerers = new Set<string>();
  for (const [index, item] of items.entries()) {
    const at = isList ? `${path}[${index}]` : path;
    const answerer = readAnswerer(findings, item, at);
    if (answerer === undefined) continue;
    if (answerers.has(answerer))
      findings.add('M003', `"${answerer}" is listed twice`, at, item.range, { hint: 'remove one of the two' });
    answerers.add(answerer);
  }
  return [...answerers];
}

function readAnswerer(findings: Findings, item: SourceNode, at: string): string | undefined {
  const text = item.kind === 'scalar' ? item.text : '';
  const role = ROLES.find((known) => known === text);
  if (role !== undefined) return role;
  const shown = text.slice(0, SHOWN_CHARACTERS_MAX);
  if (text.startsWith('=') || text.includes('${')) {
    findings.add('M518', 'to holds fixed addresses and roles, no expressions', at, item.range, { hint: EXAMPLE });
  } else if (!text.includes('@')) {
    const message =
      text === '' ? 'this is neither an address nor a role' : `"${shown}" is neither an address nor a role`;
    findings.add('M518', message, at, item.range, {
      hint: () => {
        const near = nearest(text.toLowerCase(), ROLES);
        return near === undefined ? `roles are ${ROLES.join(', ')}` : `did you mean "${near}"?`;
      },
    });
  } else if (!hasFormat('email', text)) {
    findings.add('M518', `"${shown}" is not an e-mail address`, at, item.range, {
      hint: 'only the address, such as ann@example.com',
    });
  } else return text.toLowerCase();
  return undefined;
}
