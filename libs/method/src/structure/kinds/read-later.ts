// Owns browser and agent steps: checked and saved, but only a worker with the feature can run them.
import type { LaterStep, StepBase } from '../../compiled-method.ts';
import type { SourceEntry } from '../../source/source-node.ts';
import { checkKeys } from '../check-keys.ts';
import { AGENT_KEYS, BROWSER_KEYS } from '../keys.ts';
import { placeOf, type StepContext } from '../step-context.ts';
import { readSecretNames } from './read-code.ts';
import { readIn } from './read-in.ts';

type LaterFields = Omit<LaterStep, Exclude<keyof StepBase, 'secrets'>>;

export function readLater(context: StepContext, kind: LaterStep['kind'], entry: SourceEntry): LaterFields {
  const { findings, values, step } = context;
  const at = `${context.path}.${kind}`;
  const table = kind === 'browser' ? BROWSER_KEYS : AGENT_KEYS;
  const needed = kind === 'browser' ? 'do' : 'goal';
  findings.warn(
    'M110',
    `${kind} needs a worker with that feature`,
    at,
    entry.keyRange,
    'a run stays queued until such a worker connects',
  );
  if (entry.value.kind === 'map') checkKeys(findings, entry.value, table, at);
  if (entry.value.kind !== 'map' || !entry.value.entries.has(needed))
    findings.add('M102', `${kind} needs ${needed}`, at, entry.keyRange, {
      hint:
        kind === 'browser' ? 'for example  do: [{ goto: https://example.com }]' : 'for example  goal: Find the invoice',
    });
  readIn(context, placeOf(context, 'values'), 'variables');
  // The feature defines the meaning of the values; their names and types are checked as usual.
  values.value(entry.value, at, placeOf(context, 'fields'));
  const named = values.takeSecretNames();
  const listed = readSecretNames(context, step.entries.get('secrets'));
  return { kind, secrets: [...new Set([...named, ...listed])].sort() };
}
