// Replies of the command line's routes, under both their names: programs look for a method's id in `workflow_id` as well,
// and for its source in `workflow`, as they send them.
import type { MethodId } from '@methods/base/ids';
import type { TObject } from 'typebox';
import { type Spelling, withFields } from '../methods/spelling.ts';

/** As in routes/methods/spelling.ts, with the tag of the command line. */
export function describedCli({ legacy }: Spelling, operationId: string, summary: string) {
  if (!legacy) return { operationId, summary, tags: ['cli'] };
  const id = `legacy${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}`;
  return { operationId: id, summary: `${summary} (earlier name)`, tags: ['cli'], deprecated: true };
}

/** The shape of a reply as `spelledCli` makes it. */
export function spelledCliShape(shape: TObject): TObject {
  const { method_id: methodId, source } = shape.properties;
  return withFields(shape, { ...(methodId && { workflow_id: methodId }), ...(source && { workflow: source }) });
}

export function spelledCli<Reply extends { readonly method_id: MethodId; readonly source?: string }>(
  reply: Reply,
): Reply {
  const source = reply.source === undefined ? {} : { workflow: reply.source };
  return { ...reply, workflow_id: reply.method_id, ...source };
}
