// Answers of the method registry, cached for half a minute: the secrets that sign, and the hosts that organizations
// send webhooks to. A change counts within that time, or at once when it is announced.
import type { Clock } from '@methods/base/clock';
import type { OrgId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { EndpointService } from '@methods/proto/registry/v1/endpoint_service_pb';
import { type Client, isUnknownCall } from '@methods/rpc/client';
import { LRUCache } from 'lru-cache';
import type { EndpointFormat, EndpointTarget } from '../delivery/endpoint-target.ts';

interface RegistryAnswersOptions<Ids extends readonly string[], Answer> {
  /** Rejects with a ServiceError; `not_found` when the registry knows none. */
  readonly ask: (...ids: Ids) => Promise<Answer>;
  readonly clock: Clock;
}

interface Entry<Answer> {
  readonly answer: Promise<Answer>;
  /** Absent: none has arrived. */
  known?: { readonly answer: Answer };
  readonly freshUntilMs: number;
}

const FRESH_MS = 30_000;
const ENTRIES_MAX = 1_000;
/** Requests at a time: a slow registry answers a few in time, while with hundreds at once all would be too late. */
const ASKS_MAX = 16;

export class RegistryAnswers<Ids extends readonly string[], Answer> {
  private readonly entries = new LRUCache<string, Entry<Answer>>({ max: ENTRIES_MAX });
  private readonly waiting: (() => void)[] = [];
  private asks = 0;

  constructor(private readonly options: RegistryAnswersOptions<Ids, Answer>) {}

  /** Null: it must be requested. */
  known(...ids: Ids): { readonly answer: Answer } | null {
    const entry = this.entries.get(nameOf(ids));
    const isFresh = entry !== undefined && entry.freshUntilMs > this.options.clock.monotonicMs();
    return isFresh ? (entry.known ?? null) : null;
  }

  /** One request for many deliveries; a failure is not cached. */
  get(...ids: Ids): Promise<Answer> {
    const name = nameOf(ids);
    const known = this.entries.get(name);
    const nowMs = this.options.clock.monotonicMs();
    if (known !== undefined && known.freshUntilMs > nowMs) return known.answer;
    const entry: Entry<Answer> = { answer: this.ask(ids), freshUntilMs: nowMs + FRESH_MS };
    entry.answer.then(
      (answer) => {
        entry.known = { answer };
      },
      () => {
        if (this.entries.peek(name) === entry) this.entries.delete(name);
      },
    );
    this.entries.set(name, entry);
    return entry.answer;
  }

  /** An answer in flight counts only for callers that already wait for it. */
  forget(...ids: Ids): void {
    this.entries.delete(nameOf(ids));
  }

  forgetAll(): void {
    this.entries.clear();
  }

  /** Continues even if its caller no longer waits: the next try then finds the answer here. */
  private async ask(ids: Ids): Promise<Answer> {
    if (this.waiting.length >= ENTRIES_MAX) throw new ServiceError('unavailable');
    if (this.asks >= ASKS_MAX) await new Promise<void>((begin) => this.waiting.push(begin));
    else this.asks++;
    try {
      return await this.options.ask(...ids);
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.asks--;
      else next();
    }
  }
}

function nameOf(ids: readonly string[]): string {
  return ids.join('/');
}

// Requests an organization's endpoints from the registry.

const FORMATS: readonly EndpointFormat[] = ['webhook', 'slack', 'teams'];

/** Returns none for a missing organization, and none with a registry of the previous release. */
export async function askEndpointTargets(
  calls: Pick<Client<typeof EndpointService>, 'getEndpointTargets'>,
  orgId: OrgId,
  timeoutMs: number,
): Promise<readonly EndpointTarget[]> {
  try {
    const { targets } = await calls.getEndpointTargets({ orgId }, { timeoutMs });
    return targets.flatMap((target) => {
      const format = FORMATS.find((known) => known === target.format);
      return format === undefined ? [] : [{ ...target, format }];
    });
  } catch (error) {
    if (error instanceof ServiceError && (error.code === 'not_found' || isUnknownCall(error))) return [];
    throw error;
  }
}
