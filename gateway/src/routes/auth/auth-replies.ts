// The replies of signing in and out in the API's description: success is a redirect, and a refusal is a page for
// browsers.
import { Type } from 'typebox';
import { replies } from '../reply-schemas.ts';

const Page = { 'text/html': { schema: Type.String({ description: 'For a browser.' }) } };

/** `success`: a sentence for each status. */
export function authReplies(success: Readonly<Record<number, string>>): Record<string, object> {
  const empty = Object.entries(success).map(([status, description]) => [status, { type: 'null', description }]);
  const { '4xx': refused, '5xx': failed } = replies({});
  const either = (shape: object | undefined) => ({ content: { 'application/json': { schema: shape }, ...Page } });
  return { ...Object.fromEntries(empty), '4xx': either(refused), '5xx': either(failed) };
}
