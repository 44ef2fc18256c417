// A reader of GET /api/events, as an open page is.
import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import { chooseStack, fetchToken } from '@methods/local-stack/token/running-stack';
import type { BenchStack } from './bench-stack.ts';

/** Of the n-th person who reads. */
export function readerToken(stack: BenchStack, n: number): Promise<string> {
  const who = { email: `reader-${n}@example.com`, organization: 'Local', role: 'viewer', audience: 'machine' } as const;
  return fetchToken(chooseStack(stack.dataDir), who);
}

/** One connection that counts what comes. */
export class EventReader {
  events = 0;

  private constructor(private readonly request: ClientRequest) {}

  static open(baseUrl: string, token: string): Promise<EventReader> {
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}` };
      const request = get(`${baseUrl}/api/events`, { headers, agent: false }, (response: IncomingMessage) => {
        if (response.statusCode !== 200) reject(new Error(`a reader got ${response.statusCode}`));
        const reader = new EventReader(request);
        response.on('error', () => {});
        response.on('data', (chunk: Buffer) => {
          reader.events += chunk.toString().match(/^event: run$/gm)?.length ?? 0;
          resolve(reader);
        });
      });
      request.on('error', reject);
    });
  }

  leave(): void {
    this.request.destroy();
  }
}
