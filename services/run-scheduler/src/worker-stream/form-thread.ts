// The body of the threads that derive forms from sources.
import { serveJobs } from '@methods/threads/thread-body';
import { derivedForm } from './derived-form.ts';

serveJobs(derivedForm);
