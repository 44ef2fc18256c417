// A method registry for the gateway's own tests: real gRPC in front of a few maps.
import { createServiceKey } from '@methods/auth/service-key';
import { newId, newMethodId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { silentLogger } from '@methods/logging/logger';
import { MethodRegistryService } from '@methods/proto/registry/v1/method_registry_service_pb';
import { RpcServer, type ServedService, served } from '@methods/rpc/server';

interface SavedMethod {
  readonly orgId: string;
  readonly methodId: string;
  publishedVersion: string;
  readonly versions: Map<string, { schemaVersion: string; source: string }>;
}

export class RegistryPeer {
  /** Requests by name. */
  readonly asked: string[] = [];
  away = false;
  private readonly keys = new Map<string, { orgId: string; keyId: string; revokedAtMs: number }>();
  private readonly methods = new Map<string, SavedMethod>();
  private server: RpcServer | null = null;

  get address(): string {
    return `127.0.0.1:${this.server?.port ?? 0}`;
  }

  async start(): Promise<void> {
    this.server = new RpcServer({
      listen: '127.0.0.1:0',
      services: [this.service()],
      logger: silentLogger,
      graceMs: 0,
    });
    await this.server.start();
  }

  async stop(): Promise<void> {
    await this.server?.stop();
  }

  key(orgId: string): { key: string; authPart: string; sha256: string } {
    const { key, authPart, authSha256 } = createServiceKey();
    const sha256 = authSha256.toString('hex');
    this.keys.set(sha256, { orgId, keyId: newId('key'), revokedAtMs: 0 });
    return { key, authPart, sha256 };
  }

  revoke(sha256: string): void {
    const key = this.keys.get(sha256);
    if (key) key.revokedAtMs = Date.now();
  }

  /** A method whose only version, if there is a source, is published. */
  method(orgId: string, source: string | null, schemaVersion = 'method/2'): { methodId: string; versionId: string } {
    const methodId = newMethodId();
    this.methods.set(methodId, { orgId, methodId, publishedVersion: '', versions: new Map() });
    if (source === null) return { methodId, versionId: '' };
    return { methodId, versionId: this.publish(methodId, source, schemaVersion) };
  }

  publish(methodId: string, source: string, schemaVersion = 'method/2'): string {
    const method = this.methods.get(methodId);
    if (!method) throw new Error(`no method ${methodId}`);
    method.publishedVersion = newId('ver');
    method.versions.set(method.publishedVersion, { schemaVersion, source });
    return method.publishedVersion;
  }

  count(name: string): number {
    return this.asked.filter((asked) => asked === name).length;
  }

  private service(): ServedService {
    const unused = () => {
      throw new ServiceError('internal');
    };
    return served(MethodRegistryService, {
      ensureOrganization: unused,
      createServiceKey: unused,
      listServiceKeys: unused,
      revokeServiceKey: unused,
      getWebhookSecret: unused,
      createMethod: unused,
      saveVersion: unused,
      publishVersion: unused,
      putLock: unused,
      resolveServiceKey: ({ authSha256 }) => {
        this.ask('resolveServiceKey');
        const key = this.keys.get(Buffer.from(authSha256).toString('hex'));
        if (!key || key.revokedAtMs > 0) throw new ServiceError('unauthorized');
        return { key };
      },
      getMethod: ({ orgId, methodId }) => {
        this.ask('getMethod');
        const { publishedVersion } = this.find(orgId, methodId);
        return { method: { methodId, orgId, publishedVersion } };
      },
      getVersion: ({ orgId, methodId, version }) => {
        this.ask('getVersion');
        const saved = this.find(orgId, methodId).versions.get(version);
        if (!saved) throw new ServiceError('not_found');
        const { schemaVersion, source } = saved;
        return { version: { methodId, versionId: version, schemaVersion, source: Buffer.from(source) } };
      },
    });
  }

  private ask(name: string): void {
    this.asked.push(name);
    if (this.away) throw new ServiceError('unavailable');
  }

  private find(orgId: string, methodId: string): SavedMethod {
    const method = this.methods.get(methodId);
    if (!method || method.orgId !== orgId) throw new ServiceError('not_found');
    return method;
  }
}
