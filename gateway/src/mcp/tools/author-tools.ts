// The tools with which an agent writes a method: check a source, save it as a version, publish one.
import type { VersionId } from '@methods/base/ids';
import { Type } from 'typebox';
import { enterSource } from '../../plugins/large-bodies.ts';
import { publishedMethod } from '../../routes/methods/change-method.ts';
import { savedVersion, validatedSource } from '../../routes/methods/create-method.ts';
import { Method, PublishBody, ValidateBody, Validation, Warnings } from '../../routes/methods/method-schemas.ts';
import { type Tool, tool } from '../tool.ts';
import { MethodArgument, ofMethod } from './method-argument.ts';

const Closed = { additionalProperties: false } as const;

const validateMethod = tool({
  name: 'validate_method',
  title: 'Check a method’s source',
  description:
    'Checks a source text without saving it and gives every diagnostic with its line, column and a hint. Use it until ' +
    'ok is true before create_workflow or save_method_version. It checks form, names, types and the form of ' +
    'dependencies, not whether the steps do what the user wants.',
  access: 'viewer',
  input: ValidateBody,
  output: Validation,
  hints: { readOnly: true },
  async call({ source }, { request, reply, parts }) {
    enterSource(request, reply, parts.largeBodies);
    const validation = await validatedSource(request, parts, source);
    const { ok, diagnostics } = validation;
    const found = `${diagnostics.length} ${diagnostics.length === 1 ? 'diagnostic' : 'diagnostics'}`;
    return { summary: ok ? `The source is valid, with ${found}.` : `Not valid: ${found}.`, data: validation };
  },
});

const saveMethodVersion = tool({
  name: 'save_method_version',
  title: 'Save a new version',
  description:
    'Saves a changed source as a new version of a method, upon the version that it was made from (base_version, from ' +
    'get_method_source). If another version was saved meanwhile it is refused with version_conflict and the ' +
    'current_version: read that one, carry the change over and save again. A source that is not valid is refused with ' +
    'its diagnostics. Saving publishes nothing: running programs keep the published version.',
  access: 'member',
  input: Type.Object(
    {
      method_id: MethodArgument,
      source: ValidateBody.properties.source,
      base_version: Type.Unsafe<VersionId | ''>(
        Type.String({ maxLength: 64, description: 'ver_…; empty for a method that has no version yet.' }),
      ),
      reason: Type.String({ maxLength: 2_000, description: 'What changed and why, for people.' }),
    },
    Closed,
  ),
  output: Type.Object({
    method_id: Type.String(),
    version_id: Type.String(),
    sha256: Type.String(),
    schema_version: Type.String(),
    created: Type.Boolean({ description: 'False: the current version already holds this text.' }),
    warnings: Warnings,
  }),
  hints: { readOnly: false, idempotent: true },
  call: (args, call) =>
    ofMethod(call, args.method_id, async (methodId) => {
      const { request, reply, parts } = call;
      enterSource(request, reply, parts.largeBodies);
      const { source, base_version: baseVersion, reason } = args;
      const saved = await savedVersion(request, parts, { methodId, baseVersion, source, reason });
      const how = saved.created ? 'is saved and not published' : 'already holds this text';
      return { summary: `Version ${saved.version_id} ${how}.`, data: saved };
    }),
});

const publishMethod = tool({
  name: 'publish_method',
  title: 'Publish a version',
  description:
    'Makes a saved version the published one: every start from now on that names no version runs it, also the starts ' +
    'of programs. Do it only when the user asks for it. Runs that have begun stay on their version.',
  access: 'member',
  input: Type.Object({ method_id: MethodArgument, version_id: PublishBody.properties.version_id }, Closed),
  output: Method,
  hints: { readOnly: false, destructive: true, idempotent: true },
  call: (args, call) =>
    ofMethod(call, args.method_id, async (methodId) => {
      const method = await publishedMethod(call.request, call.parts, methodId, args.version_id);
      return { summary: `Version ${method.published_version} of ${method.production_id} is published.`, data: method };
    }),
});

export const AUTHOR_TOOLS: readonly Tool[] = [validateMethod, saveMethodVersion, publishMethod];
