// Owns the hand-over from a step to the reader of its kind.
import type { StepKind } from '../../compiled-method.ts';
import type { SourceEntry } from '../../source/source-node.ts';
import { placeOf, type StepContext } from '../step-context.ts';
import { readChecks } from '../steps/read-checks.ts';
import type { KindFields } from './kind-fields.ts';
import { readAsk } from './read-ask.ts';
import { readCall } from './read-call.ts';
import { readCode } from './read-code.ts';
import { readGroup } from './read-group.ts';
import { readHttp } from './read-http.ts';
import { readLater } from './read-later.ts';
import { readParallel } from './read-parallel.ts';
import { readWait } from './read-wait.ts';

export function readKindFields(context: StepContext, kind: StepKind, entry: SourceEntry): KindFields {
  switch (kind) {
    case 'node':
    case 'python':
    case 'shell':
      return { fields: readCode(context, kind, entry) };
    case 'http':
      return { fields: readHttp(context, entry) };
    case 'ask':
      return { fields: readAsk(context, entry) };
    case 'call':
      return { fields: readCall(context, entry) };
    case 'wait':
      return { fields: readWait(context, entry) };
    case 'check': {
      const checks = readChecks(context, entry, `${context.path}.check`, placeOf(context, 'none'));
      return { fields: { kind, checks } };
    }
    case 'steps':
      return readGroup(context, entry);
    case 'parallel':
      return readParallel(context, entry);
    case 'browser':
    case 'agent':
      return { fields: readLater(context, kind, entry) };
  }
}
