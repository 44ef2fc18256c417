// Starts of an organization that keeps content on devices: inputs and files are sealed with the service key on this
// machine before they leave it.
import { extname } from 'node:path';
import type { SealedContent, SealedInputs } from '@methods/client/sealed-content';
import type { ShownGrant } from '@methods/content/device/key-ring';
import { mediaTypeOf } from '@methods/executor/files/file-value';
import type { JsonObject, JsonValue } from '@methods/method/json';
import type { CommandContext } from '../command/command.ts';
import { CommandError } from '../errors/command-error.ts';
import { keyFor } from '../keys/local-key.ts';
import type { GivenFile } from '../local-run/given-inputs.ts';
import { keyCredential } from '../server/credential.ts';
import { runPath } from '../server/run-calls.ts';
import { type FileRequest, sendFileContent, uploadFacts } from '../server/send-file.ts';
import type { ServerApi } from '../server/server-api.ts';
import { ServerRefusal } from '../server/server-refusal.ts';

const SEALED_MEDIA_TYPE = 'application/vnd.methods.sealed';

/** `GET /v1/whoami`. */
interface Program {
  readonly org_id: string;
  readonly key_id: string;
  readonly content_on_devices: boolean;
  readonly content_grants: readonly ShownGrant[];
}

/** `GET /v1/runs/:id/start`. */
interface KeptStart extends SealedInputs {
  readonly method: string;
  readonly version_id: string;
  readonly answer_by: string;
  readonly metadata: JsonObject;
  readonly webhook_url?: string;
}

export class SealedStarts {
  private constructor(
    /** Requests carry the auth part of the key that seals. */
    readonly api: ServerApi,
    private readonly content: SealedContent,
  ) {}

  /**
   * Null: the organization keeps content with the service, so starts leave as they are.
   * @throws CommandError `device_key_required`
   */
  static async ifKept(
    api: ServerApi,
    surroundings: Pick<CommandContext, 'config' | 'cwd'>,
  ): Promise<SealedStarts | null> {
    const onDevices = await api.get<Program>('/v1/whoami').then(
      ({ content_on_devices }) => content_on_devices,
      (error: unknown) => {
        // A server of a release before device mode.
        if (error instanceof ServerRefusal && error.status === 404) return false;
        throw error;
      },
    );
    return onDevices ? SealedStarts.withKey(api, surroundings) : null;
  }

  /** @throws CommandError `device_key_required` */
  static async withKey(api: ServerApi, surroundings: Pick<CommandContext, 'config' | 'cwd'>): Promise<SealedStarts> {
    const key = await keyFor(api, surroundings);
    if (key === null) {
      const message =
        'run content stays on devices here: a service key seals the inputs, and there is none on this machine';
      throw new CommandError('device_key_required', message, {
        hint: 'set SERVICE_API_KEY, or run this where .env has it',
      });
    }
    const asProgram = api.withKey(keyCredential(key.authPart));
    const [program, { SealedContent }] = await Promise.all([
      asProgram.get<Program>('/v1/whoami'),
      import('@methods/client/sealed-content'),
    ]);
    return new SealedStarts(asProgram, new SealedContent(key.contentPart, program));
  }

  /** The start with its inputs sealed. @throws CommandError `too_large` and the like */
  sealed(start: JsonObject): JsonObject {
    return this.asBody(start, (inputs) => this.content.sealInputs(inputs));
  }

  /**
   * The start as a key would have sealed it whose content part was granted to this one: the earlier start of the same
   * idempotency key may be of that key. `grant`: from 0; null: there is no such grant.
   */
  earlier(start: JsonObject, grant: number): JsonObject | null {
    if (grant >= this.content.grants) return null;
    return this.asBody(start, (inputs) => this.content.sealInputsAsGranted(inputs, grant));
  }

  /** Recognizes equal inputs, also after the key was rotated, and says nothing of them to who has no key. */
  digestOf(inputs: JsonObject): Buffer {
    return this.content.digestOfInputs(inputs);
  }

  /** What inputs name the file by. @throws CommandError */
  async sendFile(file: GivenFile, startKey: string): Promise<JsonObject> {
    // Who guesses the file must not be able to check it with what the service has.
    const idempotencyKey = this.digestOf(await uploadFacts(startKey, file)).toString('base64url');
    const upload = this.content.sealUpload(idempotencyKey);
    const request: FileRequest = {
      headers: { 'content-type': SEALED_MEDIA_TYPE, 'idempotency-key': idempotencyKey },
      asSent: (plain) => upload.sealed(plain),
    };
    const fileId = await sendFileContent(this.api, file, request);
    return upload.reference(fileId, { name: file.name, mediaType: mediaTypeOf(extname(file.name)) });
  }

  /** The body of a start like that of a run in device mode. @throws CommandError */
  async again(runId: string): Promise<JsonObject> {
    const start = await this.api.get<KeptStart>(`${runPath(runId)}/start`);
    const { method, version_id: version, answer_by, metadata, webhook_url } = start;
    const kept = {
      method,
      version,
      answer_by,
      metadata,
      rerun_of: runId,
      ...(webhook_url === undefined ? {} : { webhook_url }),
    };
    const { files, ...body } = this.sealed({
      ...kept,
      inputs: asRefusal(() => this.content.openInputs(start)) as JsonValue,
    });
    // The run keeps the files of the first one.
    return files === undefined ? body : { ...body, files_of: runId };
  }

  private asBody(start: JsonObject, seal: (inputs: JsonValue | undefined) => SealedInputs): JsonObject {
    const sealed = asRefusal(() => seal(start.inputs));
    return { ...start, run_data: 'device', ...(sealed as unknown as JsonObject) };
  }
}

/** Errors of the library as those of a command. */
function asRefusal<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { code, message, details } = Object(error) as Record<'code' | 'message' | 'details', unknown>;
    if (typeof code !== 'string') throw error;
    throw new ServerRefusal(0, { error: code, message, details });
  }
}
