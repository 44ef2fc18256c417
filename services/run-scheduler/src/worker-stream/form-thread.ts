// The body of the threads that derive forms from sources and judge answers by their checks.
import { serveJobs } from '@methods/threads/thread-body';
import { type DerivedForm, derivedForm, type FormJob } from './derived-form.ts';
import { type AnswerJob, judgedAnswer } from './judged-answer.ts';

serveJobs((job: FormJob | AnswerJob): DerivedForm | string[] => {
  return job.kind === 'form' ? derivedForm(job) : judgedAnswer(job);
});
