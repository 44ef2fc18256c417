// The methods that a source calls: what they take and give, so that its calls are checked before it is saved, and the
// versions that calls without one are bound to from then on.
import { ServiceError } from '@methods/errors/service-error';
import { callTargets, targetText } from '@methods/method/call-targets';
import { type Callee, compileMethod } from '@methods/method/compile';
import type { CallTarget, CompiledMethod } from '@methods/method/compiled-method';
import { inject, injectable } from 'tsyringe';
import type { CalledVersions } from '../method/method-source.ts';
import { type VersionChoice, VersionStore } from '../store/version-store.ts';

type Target = Extract<CallTarget, { kind: 'method' }>;

interface Found {
  readonly versionId: string;
  readonly method: CompiledMethod;
  readonly pins: Readonly<Record<string, string>>;
}

const DEPTH_MAX = 5;
/** Calls looked at for one save: methods that call each other in many ways have no end of paths. */
const VISITS_MAX = 1_000;
const NOTHING_CALLED: CalledVersions = { callees: new Map(), pins: {} };

@injectable()
export class CalledMethods {
  constructor(@inject(VersionStore) private readonly versions: VersionStore) {}

  /** `methodId` is the bare id of the method saved; null: it is new. A source with errors calls nothing. */
  async of(orgId: string, methodId: string | null, source: Uint8Array): Promise<CalledVersions> {
    const { method } = compileMethod(source);
    const targets = method === null ? [] : callTargets(method);
    if (targets.length === 0) return NOTHING_CALLED;
    const search = new Search(orgId, this.versions);
    const callees = new Map<string, Callee | 'missing' | 'cycle' | 'too_deep'>();
    const pins: Record<string, string> = {};
    const own = methodId === null ? 'new' : `wf_${methodId}`;
    for (const target of targets) {
      const found = target.kind === 'file' ? null : await search.find(target, {});
      if (found === null || target.kind === 'file') {
        callees.set(targetText(target), 'missing');
        continue;
      }
      callees.set(targetText(target), (await search.fault(found, [own, target.method])) ?? found.method);
      if (target.version === 'pinned') pins[target.method] = found.versionId;
    }
    return { callees, pins };
  }
}

/** One save's look at what is called, each version read once. */
class Search {
  private readonly read = new Map<string, Promise<Found | null>>();
  private visits = 0;

  constructor(
    private readonly orgId: string,
    private readonly versions: VersionStore,
  ) {}

  /** `pins` are those of the caller. */
  find({ method, version }: Target, pins: Found['pins']): Promise<Found | null> {
    const pinned = version === 'pinned' ? pins[method] : undefined;
    const versionId = typeof version === 'object' ? version.id : pinned;
    const key = `${method}@${versionId ?? 'published'}`;
    const known = this.read.get(key);
    if (known !== undefined) return known;
    const choice: VersionChoice = versionId === undefined ? { kind: 'published' } : { kind: 'saved', versionId };
    const found = this.load(method.replace(/^wf_/, ''), choice);
    this.read.set(key, found);
    return found;
  }

  /** What is wrong with calling it: the last of `callers`, with those that led to it before. */
  async fault(found: Found, callers: readonly string[]): Promise<'cycle' | 'too_deep' | null> {
    if (new Set(callers).size < callers.length) return 'cycle';
    if (callers.length > DEPTH_MAX + 1 || ++this.visits > VISITS_MAX) return 'too_deep';
    for (const target of callTargets(found.method)) {
      if (target.kind === 'file') continue;
      if (callers.includes(target.method)) return 'cycle';
      const next = await this.find(target, found.pins);
      const fault = next === null ? null : await this.fault(next, [...callers, target.method]);
      if (fault !== null) return fault;
    }
    return null;
  }

  private async load(methodId: string, choice: VersionChoice): Promise<Found | null> {
    try {
      const { version, source } = await this.versions.find(this.orgId, methodId, choice);
      const { method } = compileMethod(source);
      return method === null ? null : { versionId: version.versionId, method, pins: version.calls };
    } catch (error) {
      if (error instanceof ServiceError && (error.code === 'not_found' || error.code === 'not_published')) return null;
      throw error;
    }
  }
}
