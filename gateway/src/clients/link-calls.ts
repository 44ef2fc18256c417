// Calls to the notifier about answer links. Only the hash of a token leaves this process.
import { opaqueTokenSha256 } from '@methods/auth/opaque-token';
import type { Stoppable } from '@methods/base/stoppable';
import { ServiceError } from '@methods/errors/service-error';
import { type AnswerLink, LinkService } from '@methods/proto/notifier/v1/link_service_pb';
import { type Client, rpcClient } from '@methods/rpc/client';

const CALL_MS = 3_000;

export class LinkCalls implements Stoppable {
  private readonly links: Client<typeof LinkService>;

  /** `host:port` of the notifier. */
  constructor(address: string) {
    this.links = rpcClient(LinkService, address);
  }

  /** Returns null if no link has this token. @throws ServiceError unavailable */
  async open(token: string): Promise<AnswerLink | null> {
    try {
      const { link } = await this.links.openLink({ tokenSha256: opaqueTokenSha256(token) }, { timeoutMs: CALL_MS });
      return link ?? null;
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'not_found') return null;
      throw error;
    }
  }

  /** Called after the run has accepted the link's answer. @throws ServiceError unavailable */
  async use(token: string): Promise<void> {
    await this.links.useLink({ tokenSha256: opaqueTokenSha256(token) }, { timeoutMs: CALL_MS });
  }

  stop(): void {
    this.links.close();
  }
}
