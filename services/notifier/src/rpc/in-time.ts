// The end of every call of this service: without Postgres the caller gets `unavailable`, and in time.
import { withDeadline } from '@methods/postgres/deadline';
import { storageFault } from '@methods/postgres/storage-fault';

const CALL_DEADLINE_MS = 5_000;

export async function inTime<Reply>(reply: Promise<Reply>): Promise<Reply> {
  try {
    return await withDeadline(reply, CALL_DEADLINE_MS);
  } catch (error) {
    throw storageFault(error);
  }
}
