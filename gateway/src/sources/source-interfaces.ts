// The interfaces of saved versions' sources, compiled once. They depend only on the bytes, so they are cached by hash
// and never expire. An organization's share of the threads decides when its source is compiled.
import { Clock } from '@methods/base/clock';
import { inject, injectable } from 'tsyringe';
import { AgedCache } from '../cache/aged-cache.ts';
import { type SavedSource, SourceThreads } from './source-threads.ts';

interface Kept {
  /** JSON of the fields, without the braces around them; empty if the source cannot be compiled. */
  readonly fieldsJson: string;
}

const MIB = 1024 * 1024;

@injectable()
export class SourceInterfaces {
  private readonly kept: AgedCache<Kept>;

  constructor(
    @inject(Clock) clock: Clock,
    @inject(SourceThreads) private readonly threads: SourceThreads,
  ) {
    this.kept = new AgedCache<Kept>({
      clock,
      bytesMax: 64 * MIB,
      ageMsOf: () => Number.POSITIVE_INFINITY,
      bytesOf: ({ fieldsJson }) => 500 + 2 * fieldsJson.length,
    });
  }

  /** JSON of a `SourceInterface` without its braces; empty for workflow/1. @throws ServiceError rate_limited, unavailable. */
  async fieldsJson({ orgId, sha256, source }: SavedSource): Promise<string> {
    const { fieldsJson } = await this.kept.get(`${orgId}/${sha256}`, async () => ({
      fieldsJson: await this.threads.interfaceFieldsJson({ orgId, source }),
    }));
    return fieldsJson;
  }
}
