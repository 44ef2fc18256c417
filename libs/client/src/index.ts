// The library's public names.
export * from './errors.ts';
export { Methods, type MethodsOptions, type StartedRun, type StartOptions } from './methods.ts';
export type { DebugLog, RequestOptions } from './requests.ts';
export type { AnswerOptions, RerunOptions, Run } from './runs.ts';
export { type WebhookHeaders, webhooks } from './webhooks.ts';
