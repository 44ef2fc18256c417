// The forms and policies of questions, from the saved sources. The form that a worker sends is only compared and never
// used, since it would be evaluated on this node, for all organizations. A worker sends no policy.

import { createHash } from 'node:crypto';
import { canonicalDigest } from '@methods/base/canonical';
import type { Clock } from '@methods/base/clock';
import type { OrgId, ProductionId, VersionId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { AnswerPolicy } from '@methods/method/answer-policy';
import { type JsonValue, nestsDeeperThan } from '@methods/method/json';
import type { Ask } from '@methods/proto/worker/v1/worker_service_pb';
import { LRUCache } from 'lru-cache';
import type { AnswerChecksOf, Run } from '../run/run.ts';
import type { DerivedForm, DeriveForm } from './derived-form.ts';

/** A version as the registry stores it. */
export interface SavedVersion {
  readonly versionId: VersionId;
  readonly source: Uint8Array;
  /** The versions that its calls without a version are bound to, by production id. */
  readonly calls: Readonly<Record<ProductionId, VersionId>>;
}

export type FormVerdict =
  /** `checks`: the position of the answer's checks; null: there are none. */
  | {
      readonly kind: 'form';
      readonly formJson: string;
      readonly checks: Omit<AnswerChecksOf, 'scopeJson'> | null;
      /** The rules of who answers, from the source like the form; null: the step has none. */
      readonly policy: AnswerPolicy | null;
      /** Of the form's canonical JSON, and of the source that asks, in hex. */
      readonly formSha256: string;
      readonly versionSha256: string;
    }
  | { readonly kind: 'refused'; readonly message: string }
  /** The registry is unavailable; the worker repeats its question. */
  | { readonly kind: 'later' };

interface KnownForm {
  readonly derived: DerivedForm;
  readonly calls: SavedVersion['calls'];
  /** Of the source, in hex. */
  readonly versionSha256: string;
}

/** A form, and where its checks are. */
interface FormPlace extends Omit<AnswerChecksOf, 'scopeJson'> {
  readonly derived: DerivedForm;
  readonly versionSha256: string;
}

/** Each size needs its own object, since the cache counts a value only once. */
interface Entry {
  readonly form: Promise<KnownForm>;
}

const CALLS_DEEP_MAX = 5;
const KEPT_BYTES_MAX = 16 * 1024 * 1024;
const ENTRY_BYTES = 500;
/** A failure is returned to all callers during this time: reports are repeated ten times a second. */
const FAILURE_MS = 1_000;
/** Sent forms are parsed only up to this size; a longer one must be the same text. */
const COMPARED_CHARACTERS_MAX = 256 * 1024;
const LEVELS_MAX = 200;

const MISMATCH = "The question's form is not the one that the version's source gives.";

export class QuestionForms {
  private readonly known = new LRUCache<string, Entry>({ maxSize: KEPT_BYTES_MAX });

  constructor(
    private readonly options: {
      /** Rejects with `not_found` if the organization has no such version. */
      readonly versionOf: (orgId: OrgId, method: ProductionId, versionId: VersionId) => Promise<SavedVersion>;
      readonly derive: DeriveForm;
      /** Returns the note of a step from when it began: for a call, the version it chose. */
      readonly noted: (run: Run, path: string) => Promise<string | null>;
      readonly clock: Clock;
    },
  ) {}

  async judge(run: Run, { question, formSha256 }: Pick<Ask, 'question' | 'formSha256'>): Promise<FormVerdict> {
    try {
      const { derived, versionSha256, ...place } = await this.formAt(run, question?.step ?? '');
      if (derived.kind !== 'form') return { kind: 'refused', message: "The version's source has no such question." };
      const same = formSha256 === '' ? isSame(question?.formJson ?? '', derived) : formSha256 === derived.sha256;
      if (!same) return { kind: 'refused', message: MISMATCH };
      const { json, ensures, policy, sha256: formHash } = derived;
      const checks = ensures ? place : null;
      return { kind: 'form', formJson: json, checks, policy, formSha256: formHash, versionSha256 };
    } catch (error) {
      if (!(error instanceof ServiceError))
        return { kind: 'refused', message: 'The form takes too much work to derive.' };
      if (error.code !== 'not_found') return { kind: 'later' };
      return { kind: 'refused', message: "The question's version is no longer kept." };
    }
  }

  /** Follows calls into the versions they run. */
  private async formAt(run: Run, path: string): Promise<FormPlace> {
    let { method, versionId } = run.facts;
    let before = '';
    for (let depth = 0; depth <= CALLS_DEEP_MAX; depth++) {
      const place = { method, versionId, path: path.slice(before.length) };
      const { derived, calls, versionSha256 } = await this.form(run.facts.orgId, method, versionId, place.path);
      if (derived.kind !== 'call') return { derived, versionSha256, ...place };
      const called = derived.version === 'pinned' ? calls[derived.method] : derived.version;
      const at = before + derived.at;
      const next = called === 'published' ? versionNoted(await this.options.noted(run, at)) : called;
      if (next === undefined) break;
      [method, versionId, before] = [derived.method, next, `${at}/`];
    }
    return { derived: { kind: 'none' }, versionSha256: '', method, versionId, path };
  }

  private form(orgId: OrgId, method: ProductionId, versionId: VersionId, path: string): Promise<KnownForm> {
    // All rounds of a loop ask with the same form.
    const place = path.replace(/\[\d+\]/g, '');
    const key = `${orgId} ${method} ${versionId} ${place}`;
    const known = this.known.get(key);
    if (known !== undefined) return known.form;
    const form = this.derived(orgId, method, versionId, place);
    const entry: Entry = { form };
    const bytes = ENTRY_BYTES + key.length;
    this.known.set(key, entry, { size: bytes });
    form.then(
      ({ derived }) => {
        if (derived.kind !== 'form' || this.known.peek(key) !== entry) return;
        this.known.set(key, { form }, { size: bytes + derived.json.length + policyBytes(derived.policy) });
      },
      () =>
        this.options.clock.after(FAILURE_MS, () => {
          if (this.known.peek(key) === entry) this.known.delete(key);
        }),
    );
    return form;
  }

  private async derived(orgId: OrgId, method: ProductionId, versionId: VersionId, path: string): Promise<KnownForm> {
    const { source, calls } = await this.options.versionOf(orgId, method, versionId);
    const versionSha256 = createHash('sha256').update(source).digest('hex');
    return { derived: await this.options.derive(orgId, source, path), calls, versionSha256 };
  }
}

/** Up to 100 addresses and a time-out answer of 64 KiB. */
function policyBytes(policy: AnswerPolicy | null): number {
  return policy === null ? 0 : JSON.stringify(policy).length;
}

/** For workers that send no hash: the same text, or the same value in another order. */
function isSame(sent: string, { json, sha256 }: DerivedForm & { kind: 'form' }): boolean {
  if (sent === json) return true;
  if (sent.length > Math.min(COMPARED_CHARACTERS_MAX, 2 * json.length + 100)) return false;
  try {
    const form = JSON.parse(sent) as JsonValue;
    return !nestsDeeperThan(form, LEVELS_MAX) && canonicalDigest(form).toString('hex') === sha256;
  } catch {
    return false;
  }
}

/** Returns the version that a call to the published version noted when it began. */
function versionNoted(outJson: string | null): VersionId | undefined {
  try {
    const noted = outJson === null ? null : (JSON.parse(outJson) as { version_id?: VersionId } | null);
    return typeof noted?.version_id === 'string' ? noted.version_id : undefined;
  } catch {
    return undefined;
  }
}
