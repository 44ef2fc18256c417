// Publishes a folder of methods into the stack: each file is a method, and changed bytes become a new published
// version.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { OrgId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { MethodRegistryService } from '@methods/proto/registry/v1/method_registry_service_pb';
import { type Client, rpcClient } from '@methods/rpc/client';
import type { DataFolder } from './data-folder.ts';
import { StackError } from './embedded/stack-error.ts';

/** As long as the stack waits for its parts. */
const READY_MS = 600_000;
const CALL_MS = 60_000;
const LOCAL_STACK = { kind: 'system', id: 'local-stack', ip: '', requestId: '' };

export class Publisher {
  private readonly registry: Client<typeof MethodRegistryService>;

  constructor(address: string) {
    this.registry = rpcClient(MethodRegistryService, address);
  }

  close(): void {
    this.registry.close();
  }

  /**
   * Returns the organization of this stack, which is also that of people who sign in to "Local"; waits for the
   * registry. `goOn` throws when it should no longer wait.
   */
  async organization(issuer: string, goOn: () => void): Promise<OrgId> {
    const deadline = performance.now() + READY_MS;
    for (;;) {
      goOn();
      try {
        const request = { issuer, externalId: 'local', name: 'Local' };
        return (await this.registry.ensureOrganization(request, { timeoutMs: 10_000 })).orgId;
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code !== 'unavailable' || performance.now() > deadline)
          throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }

  /** Returns the stack's own service key; its webhook secret is returned once and stored in the data folder. */
  async serviceKey(orgId: OrgId, folder: DataFolder): Promise<string> {
    const { secrets } = folder;
    if (secrets.webhookSecret !== null) return secrets.webhookSecret;
    const { webhookSecret } = await this.registry.createServiceKey(
      {
        orgId,
        name: 'local-stack',
        authSha256: secrets.authSha256,
        doer: LOCAL_STACK,
      },
      { timeoutMs: CALL_MS },
    );
    secrets.webhookSecret = webhookSecret;
    folder.saveSecrets();
    return webhookSecret;
  }

  async publishFolder(orgId: OrgId, folder: string): Promise<Record<string, string>> {
    const methods: Record<string, string> = {};
    for (const file of methodFiles(folder)) {
      const name = basename(file, '.method');
      methods[name] = await this.publishFile(orgId, name, readFileSync(join(folder, file)), join(folder, file));
    }
    return methods;
  }

  private async publishFile(orgId: OrgId, name: string, source: Buffer, file: string): Promise<string> {
    const by = { doer: LOCAL_STACK };
    try {
      const idempotencyHash = createHash('sha256').update(`local-stack/${name}`).digest();
      const { method } = await this.registry.createMethod(
        { orgId, idempotencyHash, source, ...by },
        { timeoutMs: CALL_MS },
      );
      if (method === undefined) throw new ServiceError('internal');
      const { methodId, currentVersion } = method;
      const current = await this.registry.getVersion(
        { orgId, methodId, version: currentVersion },
        { timeoutMs: CALL_MS },
      );
      let versionId = current.version?.versionId ?? currentVersion;
      if (!Buffer.from(current.version?.source ?? []).equals(source)) {
        const saved = await this.registry.saveVersion(
          {
            orgId,
            methodId,
            baseVersion: versionId,
            source,
            reason: 'The file changed.',
            ...by,
          },
          { timeoutMs: CALL_MS },
        );
        versionId = saved.version?.versionId ?? versionId;
      }
      if (versionId === '') throw new ServiceError('internal');
      await this.registry.publishVersion({ orgId, methodId, versionId, ...by }, { timeoutMs: CALL_MS });
      return `wf_${methodId}`;
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'invalid_method') throw error;
      const [first] = error.findings;
      const place = first === undefined ? '' : `:${first.line}:${first.column} ${first.code} ${first.message}`;
      throw new StackError('start_failed', `${file}${place}`);
    }
  }
}

/**
 * Returns their names. @throws StackError when the folder has none, so that a stack can report it before it starts
 * anything.
 */
export function methodFiles(folder: string): string[] {
  let names: string[];
  try {
    names = readdirSync(folder).filter((name) => name.endsWith('.method'));
  } catch (error) {
    throw new StackError('folder_unusable', `The folder of methods ${folder} cannot be read.`, { cause: error });
  }
  if (names.length === 0) throw new StackError('folder_unusable', `The folder ${folder} holds no .method file.`);
  return names.sort();
}
