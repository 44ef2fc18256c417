// The body of the threads that derive forms from sources and judge answers by their checks.
import { serveJobs } from '@methods/threads/thread-body';
import { type AnswerJob, type DerivedForm, derivedForm, type FormJob, judgedAnswer } from './derived-form.ts';

serveJobs((job: FormJob | AnswerJob): DerivedForm | string[] => {
  return job.kind === 'form' ? derivedForm(job) : judgedAnswer(job);
});
