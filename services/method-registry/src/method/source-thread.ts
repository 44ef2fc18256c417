// The body of the threads that check what callers send, however expensive it is: sources and inspections.
import { serveJobs } from '@methods/threads/thread-body';
import { type ReadInspection, readInspectionJson } from '../local-run/local-run.ts';
import { type Callees, judgeSource, type SourceVerdict } from './method-source.ts';

export type SourceJob =
  | { readonly kind: 'source'; readonly bytes: Uint8Array; readonly callees: Callees }
  | { readonly kind: 'inspection'; readonly json: string };

export type SourceReply = SourceVerdict | ReadInspection;

serveJobs((job: SourceJob): SourceReply => {
  switch (job.kind) {
    case 'source':
      return judgeSource(job.bytes, job.callees);
    case 'inspection':
      return readInspectionJson(job.json);
  }
});
