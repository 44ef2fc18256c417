// The known facts of saved sources that others call or agents are offered. It depends only on the bytes, so it is kept by their hash.
import { LRUCache } from 'lru-cache';
import { inject, injectable } from 'tsyringe';
import { type ForCaller, SourceThreads } from '../method/source-threads.ts';
import type { SourceFacts } from '../method/source-verdict.ts';

const BYTES_MAX = 16 * 1024 * 1024;
const BYTES_A_TARGET = 200;
const BYTES_AT_LEAST = 500;

@injectable()
export class KnownSources {
  private readonly kept = new LRUCache<string, SourceFacts>({
    maxSize: BYTES_MAX,
    sizeCalculation: ({ interfaceJson, description, targets }) =>
      BYTES_AT_LEAST + 2 * (interfaceJson.length + description.length) + BYTES_A_TARGET * targets.length,
  });

  constructor(@inject(SourceThreads) private readonly threads: SourceThreads) {}

  /** `sha256`: of the source, which is read only if its facts are not known. Null where the source has an error by today's rules. */
  async facts(sha256: string, read: () => Promise<Uint8Array>, caller: ForCaller): Promise<SourceFacts | null> {
    const known = this.kept.get(sha256);
    if (known !== undefined) return known;
    const { facts } = await this.threads.judge(await read(), [], caller);
    if (facts !== null) this.kept.set(sha256, facts);
    return facts;
  }
}
