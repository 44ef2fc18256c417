// Finds the method that a tool's caller names. Agents mistype ids or give names: the refusal then suggests existing
// methods.
import type { MethodId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { nearest } from '@methods/method/source/did-you-mean';
import { Type } from 'typebox';
import { methodIdOf } from '../../routes/methods/method-parts.ts';
import { methodPage, readMethod } from '../../routes/methods/read-methods.ts';
import type { MethodView } from '../../views/method-view.ts';
import type { ToolCall } from '../tool.ts';
import { quotedName } from '../tool-results.ts';

export const MethodArgument = Type.String({
  maxLength: 64,
  description: 'The id of a method, as list_methods gives it: wf_… or the same without wf_.',
});

const COMPARED = 200;
const SUGGESTED = 3;

/** Returns the result of `work` for the method. @throws not_found with methods that the caller may mean */
export async function ofMethod<T>(call: ToolCall, given: string, work: (methodId: MethodId) => Promise<T>): Promise<T> {
  try {
    return await work(methodIdOf({ id: given }));
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'not_found') throw error;
    throw await suggesting(call, given, error);
  }
}

/** For the filter of a list that is empty. @throws not_found if the reason is that there is no such method */
export async function checkedMethod(call: ToolCall, given: string | undefined): Promise<void> {
  if (given !== undefined) await ofMethod(call, given, (id) => readMethod(call.request, call.parts, id));
}

/** Adds the names and ids of methods like the requested one to the refusal; returns it unchanged if there are none. */
async function suggesting(call: ToolCall, given: string, error: ServiceError): Promise<ServiceError> {
  const like = await methodsLike(call, given).catch(() => []);
  // Its version or something else is missing: the method itself exists.
  if (like.length === 0 || like.some(({ id, production_id: wf }) => id === given || wf === given)) return error;
  const findings = like.map((method) => ({
    path: '',
    code: 'did_you_mean',
    message: `${method.production_id} ${quotedName(method.display_name)}`,
  }));
  return new ServiceError('not_found', 'There is no such method. See list_methods; the data names methods like it.', {
    findings,
    cause: error,
  });
}

async function methodsLike({ request, parts }: ToolCall, given: string): Promise<readonly MethodView[]> {
  const { items } = await methodPage(request, parts, { limit: COMPARED });
  const wanted = given.toLowerCase();
  const found = items.filter(({ display_name: name }) => name.toLowerCase().includes(wanted) && wanted.length > 2);
  const names = new Map(
    items.flatMap((each) => [each.production_id, each.id, each.display_name].map((n) => [n, each])),
  );
  const meant = names.get(nearest(given, names.keys()) ?? '');
  return [...new Set(meant === undefined ? found : [meant, ...found])].slice(0, SUGGESTED);
}
