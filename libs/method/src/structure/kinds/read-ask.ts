// Owns ask steps: the question, its details, what is shown beside it, and the form made of `out`.
import type { AskStep } from '../../compiled-method.ts';
import type { CompiledExpression, CompiledValue } from '../../compiled-value.ts';
import type { SourceEntry } from '../../source/source-node.ts';
import { contains } from '../../types/type.ts';
import { checkKeys } from '../check-keys.ts';
import { ASK_KEYS } from '../keys.ts';
import { placeOf, type StepContext } from '../step-context.ts';
import { readAnswerPolicy } from './read-answer-policy.ts';
import { lastPart } from './read-in.ts';

const SHOWN_MAX = 20;

type AskFields = Pick<AskStep, 'kind' | 'question' | 'details' | 'show' | 'form' | 'policy' | 'needsAt' | 'secrets'>;

export function readAsk(context: StepContext, entry: SourceEntry): AskFields {
  const { findings, values, path, outType } = context;
  const at = `${path}.ask`;
  const place = placeOf(context, 'none');
  let question: CompiledValue = { kind: 'literal', value: '' };
  let details: CompiledValue | undefined;
  let show: AskStep['show'] = [];
  let policy: AskStep['policy'] = null;
  let needsAt: AskStep['needsAt'] = null;
  if (entry.value.kind === 'map') {
    checkKeys(findings, entry.value, ASK_KEYS, at);
    const asked = entry.value.entries.get('question');
    if (asked) question = values.text(asked.value, `${at}.question`, place).value;
    else findings.add('M102', 'ask needs a question', at, entry.keyRange, { hint: 'add  question: …?' });
    const given = entry.value.entries.get('details');
    if (given) details = values.text(given.value, `${at}.details`, place).value;
    show = readShow(context, entry.value.entries.get('show'));
    policy = readAnswerPolicy(context, entry.value, at);
    const needs = entry.value.entries.get('needs')?.value;
    if (needs) needsAt = findings.place(`${at}.needs`, needs.range);
  } else if (entry.value.kind === 'list' || entry.value.value === null || entry.value.text.trim() === '') {
    findings.add('M102', 'ask needs a question', at, entry.keyRange, { hint: 'write  ask: Shall we continue?' });
  } else question = values.text(entry.value, at, place).value;
  if (outType === null || outType.fields.size === 0) {
    findings.add('M512', 'an ask step needs out: the form of the answer', path, entry.keyRange, {
      hint: 'for example  out: { decision: [approve, reject] }',
    });
  }
  if (context.atOnce) {
    const own = context.step.entries.get('at_once');
    findings.warn(
      'M513',
      'questions are asked one at a time, with any at_once',
      own ? `${path}.at_once` : at,
      own?.keyRange ?? entry.keyRange,
      'ask about the whole list in one question, or leave at_once out',
    );
  }
  const out = context.step.entries.get('out');
  if (outType && out)
    context.types.refuse(outType, ['file', 'secret'], out.value, `${path}.out`, 'cannot be asked of a person');
  return {
    kind: 'ask',
    question,
    ...(details === undefined ? {} : { details }),
    show,
    form: context.out?.schema ?? {},
    policy,
    needsAt,
    secrets: [],
  };
}

function readShow(context: StepContext, entry: SourceEntry | undefined): { path: string; value: CompiledExpression }[] {
  if (!entry) return [];
  const { findings, values } = context;
  const at = `${context.path}.ask.show`;
  if (entry.value.kind !== 'list') {
    findings.add('M504', 'show is a list of paths', at, entry.value.range, {
      hint: 'for example  show: [steps.order.total]',
    });
    return [];
  }
  if (entry.value.items.length > SHOWN_MAX)
    findings.add('M803', `show has at most ${SHOWN_MAX} paths`, at, entry.keyRange, {
      hint: 'show the object that holds them',
    });
  const shown: { path: string; value: CompiledExpression }[] = [];
  for (const [index, item] of entry.value.items.slice(0, SHOWN_MAX).entries()) {
    if (lastPart(item) === undefined || item.kind !== 'scalar') {
      findings.add('M504', 'each entry of show is a path such as steps.a.b', `${at}[${index}]`, item.range, {
        hint: 'other values go into details',
      });
      continue;
    }
    const read = values.expression(item, `${at}[${index}]`, placeOf(context, 'none'));
    if (!read) continue;
    if (contains(read.type, 'secret'))
      findings.add('M606', 'a secret must not be shown', `${at}[${index}]`, item.range, { hint: 'remove it' });
    else shown.push({ path: item.text, value: read.expression });
  }
  return shown;
}
