// How the content of a run travels between this worker and the service: plain, or sealed in device mode.
import type { FolderId } from '@methods/base/ids';
import type { RunQuestion } from '@methods/executor/run-outcome';
import type { Grant } from '@methods/proto/worker/v1/worker_service_pb';
import type { WorkerItem } from '../scheduler-link.ts';
import { askItem } from '../step-message.ts';

type Chunks = AsyncIterable<Uint8Array>;

export interface RunContent {
  readonly isSealed: boolean;
  /** With its content opened. */
  readonly grant: Grant;
  askItem(seq: number, question: RunQuestion, folderId: FolderId | ''): WorkerItem;
  /** A report as it is sent. */
  sent(item: WorkerItem): WorkerItem;
  sentFolder(archive: Chunks): Chunks;
  /** @throws SealedValueError */
  openedFolder(archive: Chunks): Chunks;
  /** A file of the inputs. @throws SealedValueError */
  openedFile(contentId: string, file: Chunks): Chunks;
}

export function plainContent(grant: Grant): RunContent {
  return {
    isSealed: false,
    grant,
    askItem: (seq, question, folderId) => askItem(grant, seq, question, folderId),
    sent: (item) => item,
    sentFolder: (archive) => archive,
    openedFolder: (archive) => archive,
    openedFile: (_contentId, file) => file,
  };
}
