// Changes of a method that save no version: its name and agent prompt, its offer to agents, its published version, and
// a retry of its build.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { mayUse } from '@methods/auth/caller';
import type { MethodId, VersionId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { CallerRefused } from '../../callers/caller-refused.ts';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { doerOf } from '../../plugins/request-actor.ts';
import type { MethodView } from '../../views/method-view.ts';
import { NoQuery, refuseFields, replies } from '../reply-schemas.ts';
import { type MethodRouteParts, methodIdOf, sentMethod } from './method-parts.ts';
import { ChangeMethodBody, Method, MethodParams, PublishBody } from './method-schemas.ts';
import { described, type Spelling } from './spelling.ts';

export function addChangeMethod(scope: FastifyInstance, parts: MethodRouteParts, spelling: Spelling): void {
  const typed = scope.withTypeProvider<TypeBoxTypeProvider>();
  const { methods } = parts.registryCalls;
  const url = `/api/${spelling.noun}/:id`;
  const config = { access: 'member' } as const;
  const common = { params: MethodParams, querystring: NoQuery };

  const change = {
    ...described(spelling, 'changeMethod', "Change a method's name or agent prompt, or offer it to agents"),
    ...common,
    body: ChangeMethodBody,
    response: replies({ 200: Method }),
  };
  typed.patch(url, { schema: change, config }, async (request, reply) => {
    const { offer_to_agents: offered, ...change } = request.body;
    const method =
      offered === undefined
        ? await changedMethod(request, parts, methodIdOf(request.params), change)
        : sentMethod((await methods.offerMethod(offerRequest(request, offered))).method);
    reply.header('content-type', JSON_TYPE);
    return JSON.stringify(method);
  });

  const publish = {
    ...described(spelling, 'publishVersion', 'Publish a version: runs that name none get it'),
    ...common,
    body: PublishBody,
    response: replies({ 200: Method }),
  };
  typed.post(`${url}/publish`, { schema: publish, config }, async (request, reply) => {
    const method = await publishedMethod(request, parts, methodIdOf(request.params), request.body.version_id);
    reply.header('content-type', JSON_TYPE);
    return JSON.stringify(method);
  });

  const retry = {
    ...described(spelling, 'retryBuild', 'Compile the recording of a failed build once more'),
    ...common,
    response: replies({ 202: Method }),
  };
  typed.post(`${url}/retry`, { schema: retry, config }, async (request, reply) => {
    const methodId = methodIdOf(request.params);
    refuseFields(request.body, 'A retry');
    const { method } = await methods.retryBuild({ orgId: callerOf(request).orgId, methodId, doer: doerOf(request) });
    reply.code(202).header('content-type', JSON_TYPE);
    return JSON.stringify(sentMethod(method));
  });
}

/** @throws CallerRefused: only admins choose what every agent of the organization may start. */
function offerRequest(request: FastifyRequest<{ Params: { id: string } }>, offered: boolean) {
  const caller = callerOf(request);
  if (!mayUse(caller, 'admin')) {
    request.refusal = 'role';
    throw new CallerRefused('role', 'Offering a method to agents needs the role admin.');
  }
  if (Object.keys(request.body as object).length > 1) {
    const message = '"offer_to_agents" comes without other fields: change those in a request of their own.';
    throw new ServiceError('invalid_request', message, {
      findings: [{ path: '/offer_to_agents', code: 'not_by_itself', message }],
    });
  }
  return { orgId: caller.orgId, methodId: methodIdOf(request.params), offered, doer: doerOf(request) };
}

/** Returns the method after a change of its name or agent prompt. @throws ServiceError if the change is refused */
export async function changedMethod(
  request: FastifyRequest,
  { registryCalls: { methods } }: MethodRouteParts,
  methodId: MethodId,
  { display_name: displayName, agent_prompt: agentPrompt }: Omit<Static<typeof ChangeMethodBody>, 'offer_to_agents'>,
): Promise<MethodView> {
  if (displayName === undefined && agentPrompt === undefined) {
    throw new ServiceError(
      'invalid_request',
      'There is nothing to change: give "display_name", "agent_prompt" or "offer_to_agents".',
    );
  }
  const { method } = await methods.updateMethod({
    orgId: callerOf(request).orgId,
    methodId,
    ...(displayName === undefined ? {} : { displayName }),
    ...(agentPrompt === undefined ? {} : { agentPrompt }),
    doer: doerOf(request),
  });
  return sentMethod(method);
}

/** Returns the method once this version is published. @throws not_found */
export async function publishedMethod(
  request: FastifyRequest,
  { registryCalls: { methods }, registry }: MethodRouteParts,
  methodId: MethodId,
  versionId: VersionId,
): Promise<MethodView> {
  const { orgId } = callerOf(request);
  const { method } = await methods.publishVersion({ orgId, methodId, versionId, doer: doerOf(request) });
  registry.onPublished(orgId, methodId, versionId);
  return sentMethod(method);
}
