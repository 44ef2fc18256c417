// Sources of methods as resources, `method://wf_…` and `method://wf_…/ver_…`, and their agent prompts as a prompt.
import { asServiceError, ServiceError } from '@methods/errors/service-error';
import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError, type Server } from '@modelcontextprotocol/server';
import type { FastifyRequest } from 'fastify';
import { methodIdOf, noteSourceShown } from '../routes/methods/method-parts.ts';
import { methodPage, readMethod, readVersion } from '../routes/methods/read-methods.ts';
import { sourceText } from '../views/method-view.ts';
import type { McpParts } from './tool.ts';
import { DATA_NOTE, quotedName } from './tool-results.ts';

const MEDIA_TYPE = 'application/yaml';
const RESOURCE = /^method:\/\/(wf_[0-9a-z]{1,40})(?:\/(ver_[0-9a-z]{1,40}))?$/;
const PROMPT = 'agent_prompt';
const NO_EXECUTION = 'Giving this prompt to an agent does not start the executor; start_run does.';

export function addMethodResources(server: Server, request: FastifyRequest, parts: McpParts): void {
  server.setRequestHandler('resources/list', ({ params }) =>
    inProtocol(async () => {
      const { items, next_cursor } = await methodPage(request, parts, params?.cursor ? { cursor: params.cursor } : {});
      const resources = items
        .filter(({ current_version: version }) => version !== null)
        .map(({ production_id, display_name }) => ({
          uri: `method://${production_id}`,
          name: production_id,
          title: quotedName(display_name),
          description: `The source of a method, its current version. ${DATA_NOTE}`,
          mimeType: MEDIA_TYPE,
        }));
      return { resources, ...(next_cursor !== null && { nextCursor: next_cursor }) };
    }),
  );
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [
      {
        uriTemplate: 'method://{method_id}/{version_id}',
        name: 'method_version',
        title: 'A saved version of a method',
        description: `The exact source of one version: method://wf_…/ver_…. ${DATA_NOTE}`,
        mimeType: MEDIA_TYPE,
      },
    ],
  }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) =>
    inProtocol(async () => {
      const [, id, version] = RESOURCE.exec(uri) ?? [];
      if (id === undefined) throw new ResourceNotFoundError(uri);
      try {
        const read = await readVersion(request, parts, methodIdOf({ id }), version);
        noteSourceShown(request, parts, read.versionId);
        return { contents: [{ uri, mimeType: MEDIA_TYPE, text: sourceText(read) }] };
      } catch (error) {
        if (error instanceof ServiceError && error.code === 'not_found') throw new ResourceNotFoundError(uri);
        throw error;
      }
    }),
  );
  server.setRequestHandler('prompts/list', () => ({
    prompts: [
      {
        name: PROMPT,
        title: 'A method’s agent instructions',
        description: `The saved general instructions for agents of a method. ${NO_EXECUTION}`,
        arguments: [{ name: 'method_id', description: 'wf_…, as list_methods gives it.', required: true }],
      },
    ],
  }));
  server.setRequestHandler('prompts/get', ({ params }) =>
    inProtocol(async () => {
      if (params.name !== PROMPT) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no such prompt.');
      const id = params.arguments?.method_id;
      if (id === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, '"method_id" is missing.');
      const methodId = methodIdOf({ id });
      const { agentPrompt } = await readMethod(request, parts, methodId);
      if (agentPrompt === null) throw new ServiceError('not_found', 'The method has no agent prompt.');
      const content = { type: 'text' as const, text: agentPrompt };
      return { description: NO_EXECUTION, messages: [{ role: 'user' as const, content }] };
    }),
  );
}

/** Returns a refusal as an error of the protocol, without what only the log may have. */
async function inProtocol<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    const { code, message } = asServiceError(error);
    const isOurs = code === 'internal' || code === 'unavailable';
    throw new ProtocolError(isOurs ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams, message, {
      error: code,
    });
  }
}
