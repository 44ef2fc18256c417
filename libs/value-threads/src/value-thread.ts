// The body of the threads that check values.
import { serveJobs } from '@methods/threads/thread-body';
import { checkedFully } from './checked-fully.ts';

serveJobs(checkedFully);
