// Owns wait steps: a duration, or a moment.
import type { WaitStep } from '../../compiled-method.ts';
import type { SourceEntry } from '../../source/source-node.ts';
import { isUnknown, membersOf, shortType, type Type } from '../../types/type.ts';
import { checkKeys } from '../check-keys.ts';
import { WAIT_KEYS } from '../keys.ts';
import { readDuration } from '../read-amount.ts';
import { placeOf, type StepContext } from '../step-context.ts';

const WAIT_MS_MAX = 365 * 86_400_000;

export function readWait(context: StepContext, entry: SourceEntry): Pick<WaitStep, 'kind' | 'wait'> {
  const { findings, values } = context;
  const at = `${context.path}.wait`;
  const node = entry.value;
  if (node.kind !== 'map') {
    const ms = readDuration(findings, entry, at, [1, WAIT_MS_MAX])?.ms ?? 1;
    return { kind: 'wait', wait: { kind: 'for', ms } };
  }
  checkKeys(findings, node, WAIT_KEYS, at);
  const until = node.entries.get('until');
  if (!until)
    findings.add('M102', 'wait needs a duration or until', at, entry.keyRange, {
      hint: 'for example  wait: 30s  or  wait: { until: inputs.start }',
    });
  const read = until && values.expression(until.value, `${at}.until`, placeOf(context, 'none'));
  if (!until || !read) return { kind: 'wait', wait: { kind: 'for', ms: 1 } };
  reportType(context, read.type, until, at);
  return { kind: 'wait', wait: { kind: 'until', time: read.expression } };
}

function reportType(context: StepContext, type: Type, until: SourceEntry, at: string): void {
  if (isUnknown(type)) return;
  const { findings } = context;
  const range = until.value.range;
  const bad = membersOf(type).find((member) => !isMoment(member));
  if (bad?.kind === 'null') {
    findings.add('M405', 'the moment to wait for may be absent here', `${at}.until`, range, {
      hint: 'write  … ?? run.started_at',
    });
  } else if (bad) {
    findings.add('M406', `until is a datetime, not ${shortType(bad)}`, `${at}.until`, range, {
      hint: 'declare the value as datetime; for a fixed time write  wait: 30s',
    });
  }
}

function isMoment(type: Type): boolean {
  if (type.kind === 'string') return type.format === undefined || type.format === 'date-time';
  return type.kind === 'choice' && type.values.every((value) => typeof value === 'string');
}
