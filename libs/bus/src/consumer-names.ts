// Lists the names of a stream's consumers: one short answer for all shards, while the library's own listing sends whole
// consumer descriptions.
import type { NatsConnection } from 'nats';

const PAGES_MAX = 64;

interface NamesPage {
  readonly total?: number;
  readonly consumers?: readonly string[] | null;
  readonly error?: { readonly code: number; readonly err_code: number; readonly description: string };
}

/** Throws when the stream does not exist or JetStream does not answer. */
export async function consumerNames(connection: NatsConnection, stream: string): Promise<string[]> {
  const names: string[] = [];
  for (let page = 0; page < PAGES_MAX; page++) {
    const request = new TextEncoder().encode(JSON.stringify({ offset: names.length }));
    const answer = await connection.request(`$JS.API.CONSUMER.NAMES.${stream}`, request, { timeout: 5000 });
    const { consumers, total = 0, error } = answer.json<NamesPage>();
    if (error) throw Object.assign(new Error(error.description), { api_error: error });
    names.push(...(consumers ?? []));
    if (!consumers?.length || names.length >= total) break;
  }
  return names;
}
