// answer: checks the value against the open question's form and its `ensure` checks, stamps it with the question's id
// and sends it to the owner.
import { createHash } from 'node:crypto';
import { canonicalJson } from '@methods/base/canonical';
import type { OrgId, ProductionId, VersionId } from '@methods/base/ids';
import { type SealedShape, sealedShape } from '@methods/content/sealed-shape';
import { ServiceError } from '@methods/errors/service-error';
import type { Logger } from '@methods/logging/logger';
import { type CheckValue, compileCheck, TURN_EFFORT } from '@methods/method/check-value';
import { isJsonObject, type JsonSchema, type JsonValue } from '@methods/method/json';
import type { AnswerRun } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import type { ValueThreads } from '@methods/value-threads/value-threads';
import { LRUCache } from 'lru-cache';
import type { RunActors } from '../actor/run-actors.ts';
import type { RunOwners } from '../bus/run-owners.ts';
import { mayAnswer } from '../run/answerers.ts';
import type { AnswerChecksOf, OpenQuestion } from '../run/run.ts';
import { channelName, partyOf } from '../wire/question-message.ts';
import type { RunViewMessage } from '../wire/run-message.ts';
import type { FormThreads } from '../worker-stream/form-threads.ts';
import type { SavedVersion } from '../worker-stream/question-forms.ts';
import { getRun } from './get-run.ts';

const ANSWER_BYTES_MAX = 64 * 1024;
const COMMENT_CHARACTERS_MAX = 2_000;
const ANSWER_EFFORT = { ...TURN_EFFORT, addedBytesMax: ANSWER_BYTES_MAX };
/**
 * Replaces for the id when no question is open: the run may ask while the answer is on its way, and a value that was
 * checked against no form must not answer that question. It can only repeat the last answer.
 */
const NO_QUESTION = 'q_none';

export class AnswerRuns {
  private readonly forms = new CompiledForms();

  constructor(
    private readonly options: {
      readonly actors: RunActors;
      readonly owners: RunOwners;
      readonly values: Pick<ValueThreads, 'check'>;
      readonly checks: Pick<AnswerChecks, 'refusals'>;
    },
  ) {}

  async answer(request: AnswerRun): Promise<RunViewMessage> {
    if (request.comment.length > 2 * COMMENT_CHARACTERS_MAX || [...request.comment].length > COMMENT_CHARACTERS_MAX)
      throw commentTooLong();
    const run = this.options.actors.resident(request) ?? (await getRun(this.options.actors, request));
    const answer = parsed(request.answerJson);
    const sealed = run.facts.sealedBy === null ? null : sealedAnswer(answer, request.comment, run.facts.sealedBy);
    const digest = sealed?.digest ?? createHash('sha256').update(canonicalJson(answer)).digest('hex');
    const open = run.status === 'waiting' ? run.question : null;
    const named = request.questionId === '' ? null : request.questionId;
    const fits = open !== null && (named === null || named === open.id);
    const by = partyOf(request.actor);
    // The rules decide again: the people may change until then.
    if (fits && !mayAnswer(run.facts, open, by)) throw new ServiceError('not_an_answerer');
    const questionId = fits ? open.id : (named ?? run.answer?.questionId ?? NO_QUESTION);
    // Its worker checks a sealed answer, and asks again if that does not fit.
    const isChecked = fits && sealed === null;
    const answerJson = isChecked ? await this.checked(request, open, answer) : request.answerJson;
    const sender = { by, channel: channelName(request.channel), comment: request.comment };
    const command = { type: 'answer', questionId, answerJson, digest, ...sender } as const;
    return this.options.owners.tell(request.orgId, run.facts.runId, command, fits ? run : undefined);
  }

  /** The answer with defaults filled in. */
  private async checked(
    { orgId, answerJson }: AnswerRun,
    { formJson, checks }: OpenQuestion,
    answer: JsonValue,
  ): Promise<string> {
    const form = this.forms.of(formJson);
    const quick = form.check(answer, ANSWER_EFFORT);
    const check =
      !quick.ok && quick.reason === 'too_costly'
        ? await this.options.values.check({
            ...{ orgId, schema: form.schema, valueJson: answerJson },
            addedBytesMax: ANSWER_BYTES_MAX,
          })
        : quick;
    if (check.ok) {
      const json = JSON.stringify(check.value);
      if (Buffer.byteLength(json) <= ANSWER_BYTES_MAX) {
        const refusals = checks === undefined ? [] : await this.options.checks.refusals(orgId, checks, json);
        if (refusals.length > 0) throw refusedAnswer(refusals);
        return json;
      }
    }
    if (check.ok || check.reason === 'too_large') throw tooLarge();
    throw new ServiceError('invalid_answer', 'The answer does not fit the question.', { findings: check.findings });
  }
}

/** The question stays open. */
function refusedAnswer(sentences: readonly string[]): ServiceError {
  const findings = sentences.map((message) => ({ path: '', code: 'check_failed', message }));
  return new ServiceError('invalid_answer', 'A check of the question refuses the answer.', { findings });
}

function commentTooLong(): ServiceError {
  const message = `A comment has at most ${COMMENT_CHARACTERS_MAX} characters.`;
  return new ServiceError('too_large', message, {
    findings: [{ path: '/comment', code: 'comment_characters', message }],
  });
}

function tooLarge(): ServiceError {
  const message = `An answer has at most ${ANSWER_BYTES_MAX} bytes, with its defaults.`;
  return new ServiceError('too_large', message, { findings: [{ path: '/answer', code: 'answer_bytes', message }] });
}

function parsed(json: string): JsonValue {
  try {
    return JSON.parse(json) as JsonValue;
  } catch {
    throw new ServiceError('invalid_request', 'The answer is not JSON.');
  }
}

const FORMS_MAX = 500;
/** Forms of earlier releases may be as large as a message. A longer one is compiled for each of its answers. */
const FORM_CHARACTERS_MAX = 16 * 1024;

/** Caches compiled forms by their text: a method's question is the same for all its runs. */
interface CompiledForm {
  readonly schema: JsonSchema;
  readonly check: CheckValue;
}

export class CompiledForms {
  private readonly forms = new LRUCache<string, CompiledForm>({ max: FORMS_MAX });

  of(formJson: string): CompiledForm {
    const known = this.forms.get(formJson);
    if (known !== undefined) return known;
    const schema = JSON.parse(formJson) as JsonSchema;
    const form = { schema, check: compileCheck(schema) };
    if (formJson.length > FORM_CHARACTERS_MAX) return form;
    this.forms.set(formJson, form);
    return form;
  }
}

/**
 * Judges an answer by the `ensure` checks of its question when it is given, with the version's saved source. An answer
 * that cannot be judged now is left to the worker, which asks again instead of failing the run.
 */
export class AnswerChecks {
  constructor(
    private readonly options: {
      readonly versionOf: (orgId: OrgId, method: ProductionId, versionId: VersionId) => Promise<SavedVersion>;
      readonly threads: Pick<FormThreads, 'judge'>;
      readonly logger: Logger;
    },
  ) {}

  /** Returns a sentence for each check that the answer fails. Never rejects. */
  async refusals(orgId: OrgId, checks: AnswerChecksOf, answerJson: string): Promise<readonly string[]> {
    const { method, versionId, path, scopeJson } = checks;
    try {
      const { source } = await this.options.versionOf(orgId, method, versionId);
      return await this.options.threads.judge(orgId, { source, path, scopeJson, answerJson });
    } catch (error) {
      this.options.logger.debug({ error }, 'the checks of an answer are left to its worker');
      return [];
    }
  }
}

/**
 * The answer to a question of a run in device mode: an envelope of the same content key as the run's inputs.
 * `sealedBy`: the fingerprint of the run's content key. @throws ServiceError
 */
function sealedAnswer(answer: JsonValue, comment: string, sealedBy: string): SealedShape {
  if (!isJsonObject(answer) || !Object.hasOwn(answer, '$sealed')) {
    throw new ServiceError('device_mode_required', 'The run takes only answers that were sealed for it.');
  }
  const shape = sealedShape(answer, 'answer', ANSWER_BYTES_MAX);
  if (shape === null) throw refused('sealed_value_damaged', 'The answer is not an envelope of an answer.');
  if (shape.fingerprint !== sealedBy) {
    throw refused('content_key_missing', 'Another content key sealed the answer: its worker could not open it.');
  }
  if (comment !== '') {
    const message = 'A comment would be plain: put it into the answer.';
    throw new ServiceError('device_mode_required', message, {
      findings: [{ path: '/comment', code: 'comment', message }],
    });
  }
  return shape;
}

function refused(code: string, message: string): ServiceError {
  return new ServiceError('invalid_answer', message, { findings: [{ path: '/answer', code, message }] });
}
