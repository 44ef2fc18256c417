// Seals and opens the content of runs in device mode, by the content parts of the client's key and of those granted to
// it. Loaded at the first such run. The format is in docs/device-mode.md.
import { randomBytes } from 'node:crypto';
import { canonicalJson } from '@methods/base/canonical';
import { ContentKey, type Place, type RunContentKey, type Sealed } from '@methods/content/device/content-key';
import { SealedValueError as Fault } from '@methods/content/device/sealed-value-error';
import { compileCheck } from '@methods/method/check-value';
import type { JsonSchema, JsonValue } from '@methods/method/json';
import { InvalidRequestError, SealedValueError } from './errors.ts';
import type { OpenedQuestion, Question, Run } from './run.ts';
import type { Whoami } from './whoami.ts';

const INPUTS_BYTES_MAX = 256 * 1024;
const ANSWER_BYTES_MAX = 64 * 1024;
const INPUTS: Place = { kind: 'inputs', step: '' };
const FINGERPRINT = { from: 2, to: 18 } as const;

export interface SealedInputs {
  readonly content_id: string;
  readonly inputs: Sealed;
}

interface Message {
  readonly message: string;
  readonly sealed?: Sealed;
}

export class SealedContent {
  private readonly own: ContentKey;
  /** The own key first. */
  private readonly keys: readonly ContentKey[];

  constructor(contentPart: string, { org_id: orgId, content_grants: grants }: Whoami) {
    this.own = new ContentKey(contentPart, orgId);
    // A grant that is damaged is of no use, and hinders no other run.
    const granted = grants.flatMap(({ from_key_id: keyId, wrapped }) => {
      try {
        return [new ContentKey(this.own.unwrap(keyId, Buffer.from(wrapped, 'base64url')), orgId)];
      } catch {
        return [];
      }
    });
    this.keys = [this.own, ...granted];
  }

  /** Seals them for a run of their own. @throws InvalidRequestError `too_large` */
  sealInputs(inputs: unknown): SealedInputs {
    const plain = asSent(inputs ?? {}, 'inputs', INPUTS_BYTES_MAX);
    const contentId = randomBytes(16).toString('hex');
    const sealed = this.own.ofRun(contentId).sealJson(INPUTS, plain, 0, this.own.digestOfInputs(plain));
    return { content_id: contentId, inputs: sealed };
  }

  /** @throws SealedValueError */
  openInputs({ content_id: contentId, inputs }: SealedInputs): unknown {
    return opened(() => this.keyOf(inputs, contentId).openJson(INPUTS, inputs));
  }

  /** @throws SealedValueError */
  openQuestion(contentId: string, question: Question): OpenedQuestion {
    const { sealed, id, step, asked_at, deadline_at } = question;
    if (sealed === undefined) return { question, problems: [] };
    const content = opened(() => this.keyOf(sealed, contentId).openJson({ kind: 'question', step }, sealed));
    const { problems = [], ...rest } = Object(content) as Question & { problems?: OpenedQuestion['problems'] };
    return { question: { ...rest, show: rest.show ?? [], id, step, asked_at, deadline_at }, problems };
  }

  /** What does not open stays as it is. */
  openRun<T extends Partial<Run>>(contentId: string, run: T): T {
    const { question, error, steps } = run;
    const message = <M extends Message>(of: M, step: string): M => {
      if (of.sealed === undefined) return of;
      const { sealed } = of;
      const text = openedOr(undefined, () => this.keyOf(sealed, contentId).openJson({ kind: 'text', step }, sealed));
      return typeof text === 'string' ? { ...of, message: text } : of;
    };
    return {
      ...run,
      ...(question?.sealed && { question: openedOr(question, () => this.openQuestion(contentId, question).question) }),
      ...(error && { error: message(error, error.step ?? '') }),
      ...(steps && {
        steps: steps.map((step) => ({
          ...step,
          checks: step.checks.map((check) => message(check, step.name)),
          ...(step.error && { error: message(step.error, step.name) }),
        })),
      }),
    };
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

  /** Seals the answer of a question that is closed: the server compares it with the accepted one. */
  sealAgain(
    contentId: string,
    { id, step, sealed }: Pick<Question, 'id' | 'step' | 'sealed'>,
    answer: unknown,
  ): Sealed {
    const plain = asSent(answer, 'answer', ANSWER_BYTES_MAX);
    const key = sealed === undefined ? this.own : this.contentKeyOf(sealed);
    const place: Place = { kind: 'answer', step: `${id} ${step}` };
    return key.ofRun(contentId).sealJson(place, plain, 0, key.digestOfAnswer(id, plain));
  }

  private keyOf(sealed: Sealed, contentId: string): RunContentKey {
    return this.contentKeyOf(sealed).ofRun(contentId);
  }

  /** The own key if none fits: its refusal says so. */
  private contentKeyOf({ $sealed: text }: Sealed): ContentKey {
    const fingerprint = Buffer.from(text, 'base64url').subarray(FINGERPRINT.from, FINGERPRINT.to);
    return this.keys.find((key) => key.fingerprint.equals(fingerprint)) ?? this.own;
  }
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

function openedOr<T>(otherwise: T, open: () => T): T {
  try {
    return open();
  } catch {
    return otherwise;
  }
}

function opened<T>(open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (error instanceof Fault) throw new SealedValueError(error.code, error.message, { cause: error });
    throw error;
  }
}
