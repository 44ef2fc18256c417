// Seals and opens the content of runs in device mode, by the content parts of the client's key and of those granted to
// it. Loaded at the first such run. The format is in docs/device-mode.md.
import { randomBytes } from 'node:crypto';
import { canonicalJson } from '@methods/base/canonical';
import type { ContentKey, Place, Sealed } from '@methods/content/device/content-key';
import { KeyRing } from '@methods/content/device/key-ring';
import { openedQuestion, openedRun, sealedAnswer } from '@methods/content/device/sealed-run';
import { SealedValueError as Fault } from '@methods/content/device/sealed-value-error';
import { filesNamedIn } from '@methods/content/sealed-file-reference';
import { compileCheck } from '@methods/method/check-value';
import type { JsonSchema, JsonValue } from '@methods/method/json';
import { InvalidRequestError, SealedValueError } from './errors.ts';
import type { OpenedQuestion, Question, Run } from './run.ts';
import { openedFolder, openedInputFile, SealedUpload } from './sealed-files.ts';
import type { Whoami } from './whoami.ts';

const INPUTS_BYTES_MAX = 256 * 1024;
const ANSWER_BYTES_MAX = 64 * 1024;
const INPUTS: Place = { kind: 'inputs', step: '' };

export interface SealedInputs {
  readonly content_id: string;
  readonly inputs: Sealed;
  /** The files that they name; absent: none. */
  readonly files?: readonly string[];
}

export class SealedContent {
  private readonly keys: KeyRing;

  constructor(contentPart: string, { org_id: orgId, content_grants: grants }: Whoami) {
    this.keys = new KeyRing(contentPart, orgId, grants);
  }

  /** The number of content parts of other keys. */
  get grants(): number {
    return this.keys.granted.length;
  }

  /** Seals them for a run of their own. @throws InvalidRequestError `too_large`, `invalid_inputs` for a plain file */
  sealInputs(inputs: unknown): SealedInputs {
    return sealedInputs(this.keys.own, inputs);
  }

  /** As the holder of a granted key sealed them: the server compares them with those of an earlier start. */
  sealInputsAsGranted(inputs: unknown, grant: number): SealedInputs {
    return sealedInputs(this.keys.granted[grant] ?? this.keys.own, inputs);
  }

  /** Recognizes equal inputs, also after the key was rotated; without a key it says nothing of them. */
  digestOfInputs(inputs: JsonValue): Buffer {
    return this.keys.eldest.digestOfInputs(inputs);
  }

  sealUpload(idempotencyKey: string): SealedUpload {
    return new SealedUpload(this.keys.own.ofFile(idempotencyKey));
  }

  /** The archive of a run's files. @throws SealedValueError */
  openArchive(contentId: string, archive: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    return openedFolder(this.keys.streamKeys(contentId), archive);
  }

  /** The file that the inputs of a run name, by the path of its file value. @throws SealedValueError */
  inputFile(start: SealedInputs, path: string) {
    const file = filesNamedIn(this.openInputs(start)).sealed.find(
      ({ file_id: fileId, name }) => `inputs/${fileId}/${name}` === path,
    );
    return (
      file && {
        fileId: file.file_id,
        opened: (parts: AsyncIterable<Uint8Array>) =>
          openedInputFile(this.keys.streamKeys(file.content_id), file, parts),
      }
    );
  }

  /** @throws SealedValueError */
  openInputs({ content_id: contentId, inputs }: SealedInputs): unknown {
    return opened(() => this.keys.runKeyOf(inputs, contentId).openJson(INPUTS, inputs));
  }

  /** @throws SealedValueError */
  openQuestion(contentId: string, question: Question): OpenedQuestion {
    return opened(() => openedQuestion(this.keys, contentId, question));
  }

  /** What does not open stays as it is. */
  openRun<T extends Partial<Run>>(contentId: string, run: T): T {
    return openedRun(this.keys, contentId, run);
  }

  /** Seals an answer by the key of its question. @throws InvalidRequestError if it does not fit the form */
  sealAnswer(contentId: string, question: Question, answer: unknown): Sealed {
    const plain = asSent(answer, 'answer', ANSWER_BYTES_MAX);
    const { form } = this.openQuestion(contentId, question).question;
    const checked = compileCheck(form as JsonSchema)(plain);
    if (!checked.ok) {
      const message = 'The answer does not fit the form.';
      throw new InvalidRequestError('invalid_answer', message, { details: checked.findings });
    }
    return this.sealAgain(contentId, question, plain);
  }

  /**
   * Seals the answer of a question that is closed, by the key of `sealed`: the server compares it with the accepted one.
   */
  sealAgain(contentId: string, question: Pick<Question, 'id' | 'step' | 'sealed'>, answer: unknown): Sealed {
    const plain = asSent(answer, 'answer', ANSWER_BYTES_MAX);
    return opened(() => sealedAnswer(this.keys, contentId, question, plain));
  }
}

function sealedInputs(key: ContentKey, inputs: unknown): SealedInputs {
  const plain = asSent(inputs ?? {}, 'inputs', INPUTS_BYTES_MAX);
  const named = filesNamedIn(plain);
  if (named.plain.length > 0) throw plainFiles(named.plain);
  const files = [...new Set(named.sealed.map(({ file_id: fileId }) => fileId))];
  const contentId = randomBytes(16).toString('hex');
  const sealed = key.ofRun(contentId).sealJson(INPUTS, plain, 0, key.digestOfInputs(plain));
  return { content_id: contentId, inputs: sealed, ...(files.length > 0 && { files }) };
}

/** As JSON has it: without `undefined`, and what has a `toJSON` by it. */
function asSent(value: unknown, name: 'inputs' | 'answer', bytesMax: number): JsonValue {
  const plain = JSON.parse(JSON.stringify(value)) as JsonValue;
  const bytes = Buffer.byteLength(canonicalJson(plain));
  if (bytes <= bytesMax) return plain;
  const message = `The ${name} have ${bytes} bytes of JSON; at most ${bytesMax} are allowed.`;
  const details = [{ path: `/${name}`, code: `${name}_bytes`, message }];
  throw new InvalidRequestError('too_large', message, { details });
}

function plainFiles(paths: readonly string[]): InvalidRequestError {
  const message = 'A file of the inputs was not sealed. Upload it with a client that seals it.';
  const details = paths.map((path) => ({ path, code: 'plain_file', message: 'was not sealed' }));
  return new InvalidRequestError('invalid_inputs', message, { details });
}

function opened<T>(open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (error instanceof Fault) throw new SealedValueError(error.code, error.message, { cause: error });
    throw error;
  }
}
