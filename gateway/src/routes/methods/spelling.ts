// Methods used to be called workflows: every route exists under both names, and under the old one its JSON also has the
// old field names.

import { type TObject, type TProperties, Type } from 'typebox';

/** One of the two names of the same routes. */
export interface Spelling {
  readonly noun: 'methods' | 'workflows';
  readonly legacy: boolean;
}

export const SPELLINGS: readonly Spelling[] = [
  { noun: 'methods', legacy: false },
  { noun: 'workflows', legacy: true },
];

/** An operation's entry in the API's description; operation ids are unique. */
export function described({ legacy }: Spelling, operationId: string, summary: string) {
  if (!legacy) return { operationId, summary, tags: ['methods'] };
  const id = `legacy${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}`;
  return { operationId: id, summary: `${summary} (earlier name)`, tags: ['workflows'], deprecated: true };
}

/** The shape of a reply as `spelled` makes it. */
export function spelledShape(shape: TObject, { legacy }: Spelling): TObject {
  if (!legacy) return shape;
  const { method, method_id: methodId } = shape.properties;
  return withFields(shape, { ...(method && { workflow: method }), ...(methodId && { workflow_id: methodId }) });
}

export function withFields(shape: TObject, fields: TProperties): TObject {
  const { description } = shape as { description?: string };
  return Type.Object({ ...shape.properties, ...fields }, description === undefined ? {} : { description });
}

/** A reply under this spelling: `workflow` beside `method` and `workflow_id` beside `method_id`. */
export function spelled<Reply extends object>(reply: Reply, { legacy }: Spelling): Reply {
  if (!legacy) return reply;
  const { method, method_id: methodId } = reply as { method?: unknown; method_id?: unknown };
  return {
    ...reply,
    ...(method === undefined ? {} : { workflow: method }),
    ...(methodId === undefined ? {} : { workflow_id: methodId }),
  };
}
