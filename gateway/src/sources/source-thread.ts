// The body of the threads that read long sources.
import type { CompiledMethod } from '@methods/method/compiled-method';
import type { JsonObject } from '@methods/method/json';
import { unmetRequirements } from '@methods/method/unmet-requirements';
import { serveJobs } from '@methods/threads/thread-body';
import { LRUCache } from 'lru-cache';
import { compiledSource, interfaceFieldsJson, type StartFacts, startFacts } from './read-source.ts';

/** `sha256`: of `source`, which many starts name one after the other. */
export type SourceJob =
  | { readonly kind: 'interface'; readonly source: Uint8Array }
  | { readonly kind: 'start'; readonly sha256: string; readonly source: Uint8Array }
  | { readonly kind: 'unmet'; readonly sha256: string; readonly source: Uint8Array; readonly inputs: JsonObject };

export type SourceReply = string | StartFacts | readonly string[];

const COMPILED_SOURCE_BYTES_MAX = 1024 * 1024;

const compiled = new LRUCache<string, { readonly method: CompiledMethod; readonly bytes: number }>({
  maxSize: COMPILED_SOURCE_BYTES_MAX,
  sizeCalculation: ({ bytes }) => bytes,
});

function methodOf({ sha256, source }: Extract<SourceJob, { readonly sha256: string }>): CompiledMethod {
  const known = compiled.get(sha256);
  if (known !== undefined) return known.method;
  const method = compiledSource(source);
  compiled.set(sha256, { method, bytes: source.length });
  return method;
}

serveJobs((job: SourceJob): SourceReply => {
  switch (job.kind) {
    case 'interface':
      return interfaceFieldsJson(job.source);
    case 'start':
      return startFacts(methodOf(job));
    case 'unmet':
      return unmetRequirements(methodOf(job), job.inputs);
  }
});
