// Ends every call of this service in time: without Postgres the caller gets `unavailable`.

import { storageFault } from '@methods/postgres/database-fault';
import { withDeadline } from '@methods/postgres/deadline';

const CALL_DEADLINE_MS = 5_000;

export async function inTime<Reply>(reply: Promise<Reply>): Promise<Reply> {
  try {
    return await withDeadline(reply, CALL_DEADLINE_MS);
  } catch (error) {
    throw storageFault(error);
  }
}
