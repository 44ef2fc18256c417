// Opens what a run in device mode shows, and seals answers to it, by the service key on this machine.
import type { Question } from '@methods/api/question';
import type { Run } from '@methods/api/run';
import type { Sealed } from '@methods/content/device/content-key';
import { KeyRing, type ShownGrant } from '@methods/content/device/key-ring';
import { openedQuestion, openedRun, sealedAnswer } from '@methods/content/device/sealed-run';
import { SealedValueError } from '@methods/content/device/sealed-value-error';
import type { JsonObject } from '@methods/method/json';
import type { CommandContext } from '../command/command.ts';
import { CommandError } from '../errors/command-error.ts';
import { keyFor } from '../keys/local-key.ts';
import { keyCredential } from '../server/credential.ts';
import { runPath } from '../server/run-calls.ts';
import type { ServerApi } from '../server/server-api.ts';

type AskedQuestion = NonNullable<Run['question']>;
type Surroundings = Pick<CommandContext, 'config' | 'cwd'>;

export class DeviceContent {
  private constructor(
    private readonly contentId: string,
    private readonly keys: KeyRing,
    /** Sealed with the run's key. */
    private readonly inputs: Sealed,
  ) {}

  /**
   * Null: the run is not in device mode.
   * @throws CommandError `device_key_required` if no key is here, `content_key_missing` and others if it does not fit
   */
  static async of(api: ServerApi, run: Run, surroundings: Surroundings): Promise<DeviceContent | null> {
    const { run_id: runId, content_id: contentId } = run;
    if (contentId === undefined) return null;
    const key = await keyFor(api, surroundings);
    if (key === null) {
      const message = `${runId} is in device mode: its content is sealed, and the key that opens it is not here`;
      throw new CommandError('device_key_required', message, {
        hint: 'set SERVICE_API_KEY, or run this where .env has it',
      });
    }
    const asProgram = api.withKey(keyCredential(key.authPart));
    const { org_id: orgId, content_grants: grants } = await asProgram.get<{
      readonly org_id: string;
      readonly content_grants: readonly ShownGrant[];
    }>('/v1/whoami');
    const { inputs } = await asProgram.get<{ readonly inputs: Sealed }>(`${runPath(runId)}/start`);
    const keys = new KeyRing(key.contentPart, orgId, grants);
    withWords(`${key.place} does not open ${runId}`, () =>
      keys.runKeyOf(inputs, contentId).openJson({ kind: 'inputs', step: '' }, inputs),
    );
    return new DeviceContent(contentId, keys, inputs);
  }

  /** What does not open stays sealed. */
  run(run: Run): Run {
    return openedRun(this.keys, this.contentId, run);
  }

  /** @throws CommandError */
  question(question: AskedQuestion): Question {
    return withWords(`the question ${question.id} does not open`, () => {
      return openedQuestion(this.keys, this.contentId, question).question;
    });
  }

  /** Of an answer that fits the form. */
  answer({ id, step }: Pick<Question, 'id' | 'step'>, answer: JsonObject): Sealed {
    return sealedAnswer(this.keys, this.contentId, { id, step, sealed: this.inputs }, answer);
  }
}

/** The run as the key on this machine opens it; `closed`: why it does not, for people. */
export async function shownRun(
  api: ServerApi,
  run: Run,
  surroundings: Surroundings,
): Promise<{ readonly run: Run; readonly closed: CommandError | null }> {
  try {
    return { run: (await DeviceContent.of(api, run, surroundings))?.run(run) ?? run, closed: null };
  } catch (error) {
    if (!(error instanceof CommandError) || error.code === 'unreachable') throw error;
    return { run, closed: error };
  }
}

function withWords<T>(words: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof SealedValueError)) throw error;
    throw new CommandError(error.code, `${words}: ${error.message.replace(/\.$/, '')}`, { cause: error });
  }
}
