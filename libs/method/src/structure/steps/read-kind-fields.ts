// Owns the hand-over from a step to the reader of its kind.
import type { StepKind } from '../../compiled-method.ts';
import type { SourceEntry } from '../../source/source-node.ts';
import type { KindFields } from '../kinds/kind-fields.ts';
import { readAsk } from '../kinds/read-ask.ts';
import { readCall } from '../kinds/read-call.ts';
import { readCode } from '../kinds/read-code.ts';
import { readHttp } from '../kinds/read-http.ts';
import { readLater } from '../kinds/read-later.ts';
import { readWait } from '../kinds/read-wait.ts';
import { placeOf, type StepContext } from '../step-context.ts';
import { readChecks } from './read-checks.ts';
import { readGroup } from './read-group.ts';
import { readParallel } from './read-parallel.ts';

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
