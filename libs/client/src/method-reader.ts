// What a program needs to know of a method to call it.
import type { RequestOptions, Requests } from './requests.ts';

type Schema = Readonly<Record<string, unknown>>;

export interface MethodFacts {
  /** `wf_…` */
  readonly method: string;
  readonly display_name: string;
  readonly status: 'building' | 'ready' | 'failed';
  readonly current_version: string | null;
  readonly published_version: string | null;
  /** The newest 50, the newest first. */
  readonly versions: readonly {
    readonly version_id: string;
    readonly created_at: string | null;
    readonly published_at: string | null;
  }[];
  /** The version of the fields below; null: the method has none yet. */
  readonly version_id: string | null;
  /** Names of the declared secrets. */
  readonly secrets?: readonly string[];
  /** JSON Schemas. */
  readonly inputs?: Schema;
  readonly result_schema?: Schema;
}

export interface MethodOptions extends RequestOptions {
  /** Default: the published version, or the current one where none is published. */
  readonly version?: string;
}

export class MethodReader {
  constructor(private readonly requests: Requests) {}

  get(methodId: string, { version, signal }: MethodOptions = {}): Promise<MethodFacts> {
    const query = version === undefined ? '' : `?version=${encodeURIComponent(version)}`;
    const path = `/v1/methods/${encodeURIComponent(methodId)}${query}`;
    return this.requests.send({ verb: 'GET', path, signal, is: isMethod });
  }
}

function isMethod(value: unknown): value is MethodFacts {
  return typeof (Object(value) as Partial<MethodFacts>).method === 'string';
}
