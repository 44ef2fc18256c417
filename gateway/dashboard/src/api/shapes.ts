// Names for the shapes of replies that many pages use.
import type { operations } from './gen/openapi.ts';

type Reply<Name extends keyof operations> = operations[Name] extends {
  responses: { 200: { content: { 'application/json': infer Body } } };
}
  ? Body
  : never;

export type Viewer = Reply<'whoami'>;
export type Settings = Reply<'getSettings'>;
export type RunPage = Reply<'listRunsAsUser'>;
/** A run as lists show it. */
export type ListedRun = Extract<RunPage['items'][number], { run_data: string }>;
export type RunStatus = ListedRun['status'];
export type ListedMethod = Reply<'listMethods'>['items'][number];
