// Checks a source together with the methods it calls: their inputs and results, the versions that calls without a
// version are then bound to, and the people that its questions need.
import { bareMethodId, type MethodId, type OrgId, type ProductionId, type VersionId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { targetText } from '@methods/method/call-targets';
import type { CallTarget } from '@methods/method/compiled-method';
import { tooFewPeople } from '@methods/method/needed-people';
import { LRUCache } from 'lru-cache';
import { inject, injectable } from 'tsyringe';
import {
  type CalleeVerdict,
  checkSourceSize,
  type MethodSource,
  methodSource,
  type SourceFacts,
  type SourceVerdict,
  toFinding,
} from '../method/method-source.ts';
import { type ForCaller, SourceThreads } from '../method/source-threads.ts';
import { UserStore } from '../store/user-store.ts';
import { type VersionChoice, VersionStore } from '../store/version-store.ts';

const BYTES_MAX = 16 * 1024 * 1024;
const BYTES_A_TARGET = 200;
const BYTES_AT_LEAST = 500;

/**
 * The known facts of saved sources that others call or agents are offered. They depend only on the bytes, so they are
 * cached by hash.
 */
@injectable()
export class KnownSources {
  private readonly kept = new LRUCache<string, SourceFacts>({
    maxSize: BYTES_MAX,
    sizeCalculation: ({ interfaceJson, description, targets }) =>
      BYTES_AT_LEAST + 2 * (interfaceJson.length + description.length) + BYTES_A_TARGET * targets.length,
  });

  constructor(@inject(SourceThreads) private readonly threads: SourceThreads) {}

  /**
   * `sha256`: of the source, which is read only if its facts are unknown. Null if the source has an error by today's
   * rules.
   */
  async facts(sha256: string, read: () => Promise<Uint8Array>, caller: ForCaller): Promise<SourceFacts | null> {
    const known = this.kept.get(sha256);
    if (known !== undefined) return known;
    const { facts } = await this.threads.judge(await read(), [], caller);
    if (facts !== null) this.kept.set(sha256, facts);
    return facts;
  }
}

/** Larger organizations are not counted. */
const MEMBERS_MAX = 1_000;
const FINDINGS_MAX = 100;

/** Warns at a save of questions that need more people than may answer them in the organization (M522). */
@injectable()
class CountedPeople {
  constructor(@inject(UserStore) private readonly users: UserStore) {}

  /** Adds these warnings to the verdict, in the order of the text. */
  async judge(verdict: SourceVerdict, orgId: OrgId): Promise<SourceVerdict> {
    if (verdict.needed.length === 0) return verdict;
    const members = await this.users.allOf(orgId, MEMBERS_MAX);
    if (members === null) return verdict;
    const warnings = verdict.needed.flatMap((needed) => tooFewPeople(needed, members) ?? []).map(toFinding);
    const findings = [...verdict.findings, ...warnings].sort(
      (a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
    );
    return { ...verdict, findings: findings.slice(0, FINDINGS_MAX) };
  }
}

type Target = Extract<CallTarget, { kind: 'method' }>;

interface Found {
  readonly versionId: VersionId;
  readonly facts: SourceFacts;
  readonly pins: Readonly<Record<ProductionId, VersionId>>;
}

interface Judged {
  readonly verdict: SourceVerdict;
  /** The version published now by production id, for calls without a version. */
  readonly pins: Readonly<Record<ProductionId, VersionId>>;
}

const DEPTH_MAX = 5;
/** Calls followed for one save: methods that call each other in many ways have endless paths. */
const VISITS_MAX = 1_000;
/** Versions read for one save. More calls than this nest too deep. */
const READS_MAX = 200;

@injectable()
export class CalledMethods {
  constructor(
    @inject(VersionStore) private readonly versions: VersionStore,
    @inject(SourceThreads) private readonly threads: SourceThreads,
    @inject(KnownSources) private readonly known: KnownSources,
    @inject(CountedPeople) private readonly people: CountedPeople,
  ) {}

  /** Judges the source with its called methods. `methodId`: the bare id of the method to save; null: it is new. */
  async judge(source: Uint8Array, methodId: MethodId | null, caller: ForCaller): Promise<Judged> {
    const { verdict, pins } = await this.judgeCalls(source, methodId, caller);
    return { verdict: await this.people.judge(verdict, caller.orgId), pins };
  }

  private async judgeCalls(source: Uint8Array, methodId: MethodId | null, caller: ForCaller): Promise<Judged> {
    // Most sources call nothing, and a source with errors is refused anyway.
    const verdict = await this.threads.judge(source, [], caller);
    const targets = verdict.facts?.targets ?? [];
    if (targets.length === 0) return { verdict, pins: {} };
    const search = new Search(caller, this.versions, this.known);
    const callees = new Map<string, CalleeVerdict>();
    const pins: Record<ProductionId, VersionId> = {};
    const own = methodId === null ? 'new' : `wf_${methodId}`;
    for (const target of targets) {
      const found = target.kind === 'file' ? null : await search.find(target, {});
      if (found === 'too_deep') callees.set(targetText(target), found);
      else if (found === null || target.kind === 'file') callees.set(targetText(target), 'missing');
      else {
        callees.set(targetText(target), (await search.fault(found, [own, target.method])) ?? found.facts);
        if (target.version === 'pinned') pins[target.method] = found.versionId;
      }
    }
    const calls = [...callees].map(([target, callee]) => [target, calleeVerdict(callee)] as const);
    return { verdict: await this.threads.judge(source, calls, caller), pins };
  }

  /**
   * Returns the source if it may be saved. @throws ServiceError too_large, invalid_method, rate_limited, unavailable.
   */
  async judged(source: Uint8Array, methodId: MethodId | null, caller: ForCaller): Promise<MethodSource> {
    checkSourceSize(source);
    const { verdict, pins } = await this.judge(source, methodId, caller);
    return methodSource(source, verdict, pins);
  }
}

/** Only the interface among the facts is passed to the thread. */
function calleeVerdict(callee: CalleeVerdict): CalleeVerdict {
  return typeof callee === 'object' ? { interfaceJson: callee.interfaceJson } : callee;
}

/** Finds the called methods for one save, and reads each version once. */
class Search {
  private readonly read = new Map<string, Promise<Found | null>>();
  private visits = 0;

  constructor(
    private readonly caller: ForCaller,
    private readonly versions: VersionStore,
    private readonly known: KnownSources,
  ) {}

  /** `pins`: those of the caller. */
  find({ method, version }: Target, pins: Found['pins']): Promise<Found | null> | 'too_deep' {
    const pinned = version === 'pinned' ? pins[method] : undefined;
    const versionId = typeof version === 'object' ? version.id : pinned;
    const key = `${method}@${versionId ?? 'published'}`;
    const known = this.read.get(key);
    if (known !== undefined) return known;
    if (this.read.size >= READS_MAX) return 'too_deep';
    const choice: VersionChoice = versionId === undefined ? { kind: 'published' } : { kind: 'saved', versionId };
    const methodId = bareMethodId(method);
    if (methodId === null) return Promise.resolve(null);
    const found = this.load(methodId, choice);
    this.read.set(key, found);
    return found;
  }

  /** Returns why it cannot be called: by the last of `callers`, which the others led to. */
  async fault(found: Found, callers: readonly string[]): Promise<'cycle' | 'too_deep' | null> {
    if (new Set(callers).size < callers.length) return 'cycle';
    if (callers.length > DEPTH_MAX + 1 || ++this.visits > VISITS_MAX) return 'too_deep';
    for (const target of found.facts.targets) {
      if (target.kind === 'file') continue;
      if (callers.includes(target.method)) return 'cycle';
      const next = await this.find(target, found.pins);
      if (next === 'too_deep') return next;
      const fault = next === null ? null : await this.fault(next, [...callers, target.method]);
      if (fault !== null) return fault;
    }
    return null;
  }

  private async load(methodId: MethodId, choice: VersionChoice): Promise<Found | null> {
    try {
      const { version, source } = await this.versions.find(this.caller.orgId, methodId, choice);
      const facts = await this.known.facts(version.sha256, async () => source, this.caller);
      // workflow/1 cannot be called.
      if (facts === null || facts.interfaceJson === '') return null;
      return { versionId: version.versionId, facts, pins: version.calls };
    } catch (error) {
      if (error instanceof ServiceError && (error.code === 'not_found' || error.code === 'not_published')) return null;
      throw error;
    }
  }
}
