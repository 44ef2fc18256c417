// Names for the shapes of replies that many pages use.
import type { operations } from './gen/openapi.ts';

export type Reply<Name extends keyof operations> = operations[Name] extends {
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
export type ConnectedWorker = Reply<'listWorkers'>['items'][number];
export type Delivery = Reply<'listDeliveries'>['items'][number];
export type UsageRow = Reply<'listUsage'>['items'][number];
export type ServiceKey = Reply<'listKeys'>['items'][number];
export type Member = Reply<'listMembers'>['items'][number];
export type Endpoint = Reply<'listEndpoints'>['items'][number];
export type AuditEntry = Reply<'listAudit'>['items'][number];
