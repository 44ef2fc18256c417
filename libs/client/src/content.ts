// Decides what leaves the process: content as it is, or in device mode sealed.
import { unlessLeft } from './deadline.ts';
import { ConfigurationError, ConflictError, SealedValueError } from './errors.ts';
import type { Requests } from './requests.ts';
import { type OpenedQuestion, type Question, type Run, runPath } from './run.ts';
import type { SealedContent, SealedInputs } from './sealed-content.ts';
import type { StartBody } from './starts.ts';
import { type Whoami, WhoamiReader } from './whoami.ts';

export type RunData = 'account' | 'device';

// The package publishes these types, so they name nothing of the workspace.

interface OpeningFile {
  readonly fileId: string;
  opened(file: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array>;
}

/** An upload, sealed again for each try. */
export interface SealingUpload {
  /** Why the file cannot be sent at all. */
  readonly fault: Error | null;
  sealed(plain: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Uint8Array>;
  reference(fileId: string, file: { readonly name: string; readonly mediaType: string }): SealedFileFields;
}

interface SealedFileFields {
  readonly file_id: string;
  readonly content_id: string;
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly media_type: string;
}

/** A run's start as the server has it. */
interface SealedStart extends SealedInputs {
  readonly method: string;
  readonly version_id: string;
  readonly answer_by: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly webhook_url?: string;
}

type OpenArchive = (archive: AsyncIterable<Uint8Array>) => AsyncGenerator<Uint8Array>;

export class Content {
  private readonly whoami: WhoamiReader;
  private sealed: { readonly of: Whoami; readonly content: SealedContent } | null = null;

  /** `runData` `device`: always sealed; else as the organization has it. */
  constructor(
    private readonly requests: Requests,
    private readonly runData: RunData | undefined,
  ) {
    this.whoami = new WhoamiReader(requests);
  }

  /**
   * Sends a start as it may be sent. An earlier start of the same idempotency key may be of a key that was rotated since:
   * it is recognized by what that key makes of the inputs. @throws ConfigurationError `device_key_required`
   */
  async started<T>(
    body: StartBody,
    signal: AbortSignal | undefined,
    send: (body: StartBody) => Promise<T>,
  ): Promise<T> {
    const sent = await this.ofStart(body, signal);
    try {
      return await send(sent);
    } catch (error) {
      if (!isOtherStart(error)) throw error;
      for (let grant = 0; ; grant++) {
        const earlier = await this.asGranted(body, sent, grant);
        if (earlier === null) throw error;
        try {
          return await send(earlier);
        } catch (again) {
          if (!isOtherStart(again)) throw again;
        }
      }
    }
  }

  /** The start as the holder of a key would have sent it whose content part was granted to this one; null: no more. */
  async asGranted(body: StartBody, sent: StartBody, grant: number): Promise<StartBody | null> {
    if (sent.run_data !== 'device') return null;
    const sealing = await this.sealing();
    return grant < sealing.grants ? { ...sent, ...sealing.sealInputsAsGranted(body.inputs, grant) } : null;
  }

  /** The body of a start as it may be sent. @throws ConfigurationError `device_key_required` */
  async ofStart(body: StartBody, signal: AbortSignal | undefined): Promise<StartBody> {
    if (!(await unlessLeft(this.isSealed(), signal))) return body;
    return { ...body, run_data: 'device', ...(await this.sealing()).sealInputs(body.inputs) };
  }

  /** How the bytes of a file leave the process; null: as they are. @throws ConfigurationError `device_key_required` */
  async ofFile(idempotencyKey: string, signal: AbortSignal | undefined): Promise<SealingUpload | null> {
    if (!(await unlessLeft(this.isSealed(), signal))) return null;
    return (await this.sealing()).sealUpload(idempotencyKey);
  }

  /** Opens the archive of a run's files; null: the run is not in device mode. */
  async archiveOf({ content_id: contentId }: Run): Promise<OpenArchive | null> {
    if (contentId !== undefined) {
      const sealing = await this.sealing();
      return (archive) => sealing.openArchive(contentId, archive);
    }
    if (this.runData === 'device') throw notSealedHere();
    return null;
  }

  /** The file that the inputs of a run in device mode name by its path, and how it is opened; undefined: none. */
  async inputFileOf(runId: string, path: string, signal: AbortSignal | undefined): Promise<OpeningFile | undefined> {
    const sealing = await this.sealing();
    return sealing.inputFile(await this.startOf(runId, signal), path);
  }

  /**
   * A service that others control may show another run in place of the one that was started. `isNew`: no earlier start
   * can have had its key. @throws SealedValueError
   */
  refuseOther(run: Run, body: StartBody, isNew: boolean): void {
    if (body.run_data !== 'device') return;
    if (run.content_id === undefined || (isNew && run.content_id !== body.content_id)) throw notSealedHere();
  }

  /** @throws SealedValueError */
  async questionOf({ content_id: contentId }: Run, question: Question): Promise<OpenedQuestion> {
    if (contentId === undefined) return { question, problems: [] };
    if (question.sealed === undefined) throw notSealedHere();
    return (await this.sealing()).openQuestion(contentId, question);
  }

  /** The run with its question and messages opened; what does not open stays sealed. */
  async opened<T extends Partial<Run>>(run: T): Promise<T> {
    if (run.content_id === undefined || this.requests.settings.credential.contentPart === undefined) return run;
    return (await this.sealing()).openRun(run.content_id, run);
  }

  /** An answer as it may be sent. @throws InvalidRequestError if it does not fit; SealedValueError; ConflictError */
  async ofAnswer(run: Run, questionId: string, answer: object): Promise<object> {
    const { content_id: contentId, question, answers = [] } = run;
    if (contentId === undefined) {
      if (this.runData !== 'device') return answer;
      throw new ConfigurationError(
        'device_mode_required',
        'This client seals all content, and the run has plain content.',
      );
    }
    const sealing = await this.sealing();
    if (question?.id === questionId) {
      if (question.sealed === undefined) throw notSealedHere();
      return sealing.sealAnswer(contentId, question, answer);
    }
    const answered = answers.find(({ question_id: id }) => id === questionId);
    if (answered === undefined) throw new ConflictError('question_changed', 'The question is no longer open.');
    // The question is no longer here; its run's inputs were sealed with the same key.
    const sealed = sealing.grants === 0 ? {} : { sealed: (await this.startOf(run.run_id, undefined)).inputs };
    return sealing.sealAgain(contentId, { id: questionId, step: answered.step, ...sealed }, answer);
  }

  /** The body of a start like that of a run in device mode. @throws NotFoundError for any other run */
  async ofRerun(runId: string, signal: AbortSignal | undefined): Promise<StartBody> {
    const start = await this.startOf(runId, signal);
    const sealing = await this.sealing();
    const { method, version_id: version, answer_by, metadata, webhook_url } = start;
    // The run keeps the files of the first one, which another key may have sent.
    const { files, ...sealed } = sealing.sealInputs(sealing.openInputs(start));
    const filesOf = files === undefined ? {} : { files_of: runId };
    const kept = { method, version, answer_by, metadata, webhook_url, rerun_of: runId };
    return { ...kept, run_data: 'device', ...sealed, ...filesOf };
  }

  private startOf(runId: string, signal: AbortSignal | undefined): Promise<SealedStart> {
    return this.requests.send({ verb: 'GET', path: `${runPath(runId)}/start`, signal, is: isSealedStart });
  }

  private async isSealed(): Promise<boolean> {
    return this.runData === 'device' || (await this.whoami.read()).content_on_devices;
  }

  private async sealing(): Promise<SealedContent> {
    const { contentPart } = this.requests.settings.credential;
    if (contentPart === undefined) {
      const message =
        'Runs in device mode need a whole service key, whose content part seals what leaves this process. Set ' +
        'SERVICE_API_KEY.';
      throw new ConfigurationError('device_key_required', message);
    }
    const facts = await this.whoami.read();
    if (this.sealed?.of === facts) return this.sealed.content;
    // An import takes a part of a millisecond, also that of loaded code.
    const { SealedContent } = await import('./sealed-content.ts');
    this.sealed = { of: facts, content: new SealedContent(contentPart, facts) };
    return this.sealed.content;
  }
}

/** Another start had its idempotency key. */
export function isOtherStart(error: unknown): boolean {
  return error instanceof ConflictError && error.code === 'idempotency_conflict';
}

function notSealedHere(): SealedValueError {
  const message = 'The service shows something that the key of this run has not sealed.';
  return new SealedValueError('sealed_value_damaged', message);
}

function isSealedStart(value: unknown): value is SealedStart {
  const { method, content_id: contentId, inputs } = Object(value) as Partial<SealedStart>;
  return typeof method === 'string' && typeof contentId === 'string' && typeof inputs?.$sealed === 'string';
}
