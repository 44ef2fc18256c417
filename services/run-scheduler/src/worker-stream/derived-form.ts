// Derives the question at a path from a version's source. Compiling a source takes up to some tenths of a second, so it
// runs on a thread.
import { canonicalDigest } from '@methods/base/canonical';
import type { OrgId, ProductionId, VersionId } from '@methods/base/ids';
import { readForm } from '@methods/form/field';
import { askStepAt, refusalText, refusedBy, scopeFromJson } from '@methods/method/answer-checks';
import type { AnswerPolicy } from '@methods/method/answer-policy';
import { compileMethod } from '@methods/method/compile';
import type { JsonSchema, JsonValue } from '@methods/method/json';
import { questionForm } from '@methods/method/question-form';

export type DerivedForm =
  | {
      readonly kind: 'form';
      readonly json: string;
      /** Hash of the canonical JSON, in hex. */
      readonly sha256: string;
      /** Whether checks judge the answer. */
      readonly ensures: boolean;
      /** Includes the fields that `needs` compares. */
      readonly policy: AnswerPolicy | null;
    }
  /** `version`: an id, `pinned` or `published`; `at`: the call's own path. */
  | {
      readonly kind: 'call';
      readonly method: ProductionId;
      readonly version: VersionId | 'pinned' | 'published';
      readonly at: string;
    }
  | { readonly kind: 'none' };

export type DeriveForm = (orgId: OrgId, source: Uint8Array, path: string) => Promise<DerivedForm>;

export interface FormJob {
  readonly kind: 'form';
  readonly source: Uint8Array;
  readonly path: string;
}

/** A form is kept in the run's row and shown with the run. */
const FORM_CHARACTERS_MAX = 1024 * 1024;

export function derivedForm({ source, path }: Omit<FormJob, 'kind'>): DerivedForm {
  const { method } = compileMethod(source, { saved: true });
  if (method === null) return { kind: 'none' };
  const found = questionForm(method, path);
  if (found.kind === 'form') {
    const json = JSON.stringify(found.form);
    if (json.length > FORM_CHARACTERS_MAX) return { kind: 'none' };
    const policy = found.policy && withComparedFields(found.policy, found.form);
    return { kind: 'form', json, sha256: canonicalDigest(found.form).toString('hex'), ensures: found.ensures, policy };
  }
  if (found.kind === 'none' || found.target.kind === 'file') return { kind: 'none' };
  const { method: called, version } = found.target;
  return { kind: 'call', method: called, version: typeof version === 'string' ? version : version.id, at: found.at };
}

/** If the source names no fields, uses those that people choose from. A form without such fields is compared whole. */
function withComparedFields(policy: AnswerPolicy, form: JsonSchema): AnswerPolicy {
  const { needs } = policy;
  if (needs === null || needs.on.length > 0) return policy;
  const chosen = readForm(form).fields.filter(({ kind }) => kind === 'choice' || kind === 'boolean');
  return { ...policy, needs: { ...needs, on: chosen.map(({ name }) => name) } };
}

/**
 * Judges an answer by the checks of its ask step, from the version's source. Its expressions are bounded, and compiled
 * and evaluated on a thread.
 */
export interface AnswerJob {
  readonly kind: 'answer';
  readonly source: Uint8Array;
  readonly path: string;
  readonly scopeJson: string;
  readonly answerJson: string;
}

/** Returns a sentence for each check that the answer fails. */
export function judgedAnswer({ source, path, scopeJson, answerJson }: Omit<AnswerJob, 'kind'>): string[] {
  const { method } = compileMethod(source, { saved: true });
  const step = method === null ? null : askStepAt(method, path);
  if (step === null) return [];
  return refusedBy(step, scopeFromJson(scopeJson), JSON.parse(answerJson) as JsonValue).map(refusalText);
}
