// Every subject of the bus, in one place. Parts are checked, so that no id can name another subject or a wildcard.

const PART = /^[A-Za-z0-9_-]{1,64}$/;

export class SubjectError extends Error {
  override readonly name = 'SubjectError';
}

/** Commands for the owner of a shard: answers and cancels. */
export const runCommand = (shard: number) => `run.command.${shardPart(shard)}`;
/** Heartbeats for the node `node`, each sent by another node about its workers. */
export const runHeartbeat = (node: string) => `run.heartbeat.${part(node)}`;
/** Lifecycle events of one run. */
export const runEvent = (org: string, run: string) => `run.event.${part(org)}.${part(run)}`;
/** The lifecycle events of all runs, which the stream holds. Not `run.event.>`, which `runEventStored` would match. */
export const runEvents = 'run.event.*.*';
/** Ids of events that the notifier has stored; core only, never in the stream. */
export const runEventStored = 'run.event.stored';
/**
 * Runs of a shard that just came to rest, or changed while watched step by step, for their current watchers; never
 * stored.
 */
export const runLive = (shard: number) => `run.live.${shardPart(shard)}`;
/** Runs watched step by step on a node that does not own them; never stored. */
export const runWatched = 'run.watched';
export const registryChanged = (org: string) => `registry.changed.${part(org)}`;
export const registryChanges = 'registry.changed.*';
/** Tries of an organization's deliveries, for the gateways that follow it; never stored. */
export const deliveryTried = (org: string) => `delivery.tried.${part(org)}`;
/** Workers of an organization have connected or left, for the gateways that follow it; never stored. */
export const workersChanged = (org: string) => `worker.changed.${part(org)}`;
/** Replies to commands that `node` sent. */
export const inbox = (node: string) => `node.inbox.${part(node)}`;
/** Where the commands of the shards of `node` are delivered. */
export const commandDelivery = (node: string) => `node.commands.${part(node)}`;

/** The shard of a command's subject, or null when it is none. */
export function shardOfCommand(subject: string): number | null {
  const shard = /^run\.command\.(\d{1,5})$/.exec(subject)?.[1];
  return shard === undefined ? null : Number(shard);
}

/** The organization of an event's subject, or null when it is none. */
export function orgOfEvent(subject: string): string | null {
  return /^run\.event\.([A-Za-z0-9_-]{1,64})\.[A-Za-z0-9_-]{1,64}$/.exec(subject)?.[1] ?? null;
}

function part(text: string): string {
  if (!PART.test(text)) throw new SubjectError('not a part of a subject');
  return text;
}

function shardPart(shard: number): string {
  if (!Number.isInteger(shard) || shard < 0 || shard > 65_535) throw new SubjectError('not a shard number');
  return String(shard);
}
