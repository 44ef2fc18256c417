// The library's public names.
export type { RunData } from './content.ts';
export * from './errors.ts';
export { Files, SentFile, type UploadOptions } from './files.ts';
export type { MethodFacts, MethodOptions } from './method-reader.ts';
// All of them, which lets an application's files add to `MethodTypes`.
export * from './method-types.ts';
export { Methods, type MethodsOptions, type RunOptions, type StartOptions } from './methods.ts';
export type { AnyAsked, OnError } from './questions.ts';
export type { DebugLog, RequestOptions } from './requests.ts';
export type { ListedRun, Question, Run, RunStatus, StartedRun } from './run.ts';
export type { RunEvent } from './run-events.ts';
export type { AnswerOptions, ListOptions, RerunOptions } from './runs.ts';
export type { Start, StartOutcome } from './starts.ts';
export type { RunFile } from './tar-files.ts';
export { type VerifyOptions, type WebhookEvent, type WebhookHeaders, webhooks } from './webhooks.ts';
