// The body of the threads that read large records of local runs.
import { serveJobs } from '@methods/threads/thread-body';
import { type RecordReading, readRecord } from './read-record.ts';

export interface RecordJob {
  readonly bytes: Uint8Array;
  readonly weightMax: number;
}

serveJobs(({ bytes, weightMax }: RecordJob): RecordReading => readRecord(bytes, weightMax));
