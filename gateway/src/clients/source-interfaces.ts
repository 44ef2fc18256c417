// What the sources of saved versions say of themselves, compiled once. It depends on the bytes alone, so it is kept by
// their hash and never grows old.
import type { Clock } from '@methods/base/clock';
import { type SourceInterface, sourceInterface } from '../views/source-interface.ts';
import { AgedCache } from './aged-cache.ts';

interface Kept {
  /** JSON of the fields, without the braces around them; empty where the source cannot be compiled. */
  readonly fieldsJson: string;
}

const MIB = 1024 * 1024;

export class SourceInterfaces {
  private readonly kept: AgedCache<Kept>;

  constructor(clock: Clock) {
    this.kept = new AgedCache<Kept>({
      clock,
      bytesMax: 64 * MIB,
      ageMsOf: () => Number.POSITIVE_INFINITY,
      bytesOf: ({ fieldsJson }) => 500 + 2 * fieldsJson.length,
    });
  }

  /** `sha256`: hex, of `source`. JSON of a `SourceInterface` without its braces; empty for workflow/1. */
  async fieldsJson(sha256: string, source: Uint8Array): Promise<string> {
    const { fieldsJson } = await this.kept.get(sha256, async () => ({ fieldsJson: fieldsOf(sourceInterface(source)) }));
    return fieldsJson;
  }
}

function fieldsOf(described: SourceInterface | null): string {
  return described === null ? '' : JSON.stringify(described).slice(1, -1);
}
