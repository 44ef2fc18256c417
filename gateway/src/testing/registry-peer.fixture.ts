// A method registry for the gateway's own tests: real gRPC in front of a few maps.
import { createServiceKey } from '@methods/auth/service-key';
import { type KeyId, type MethodId, newId, newMethodId, type OrgId, type VersionId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { silentLogger } from '@methods/logging/logger';
import { AccountService } from '@methods/proto/registry/v1/account_service_pb';
import { MethodRegistryService } from '@methods/proto/registry/v1/method_registry_service_pb';
import { RunRecordService } from '@methods/proto/registry/v1/run_record_service_pb';
import { UploadService } from '@methods/proto/registry/v1/upload_service_pb';
import { RpcServer } from '@methods/rpc/server';
import { AccountBook } from './account-book.fixture.ts';
import { PeerService } from './peer-service.fixture.ts';

interface SavedMethod {
  readonly orgId: OrgId;
  readonly methodId: MethodId;
  publishedVersion: VersionId | '';
  readonly versions: Map<string, { schemaVersion: string; source: string }>;
}

export class RegistryPeer {
  /** Requests by name. */
  readonly asked: string[] = [];
  away = false;
  /** The replies of each service; a test adds the calls it needs with `answer`. */
  readonly methodService = new PeerService(MethodRegistryService, (name) => this.ask(name));
  readonly accountService = new PeerService(AccountService, (name) => this.ask(name));
  readonly accounts = new AccountBook(this.accountService);
  readonly uploadService = new PeerService(UploadService, (name) => this.ask(name));
  readonly runRecordService = new PeerService(RunRecordService, (name) => this.ask(name));
  private readonly keys = new Map<string, { orgId: OrgId; keyId: KeyId; revokedAtMs: number }>();
  private readonly methods = new Map<string, SavedMethod>();
  private server: RpcServer | null = null;

  constructor() {
    this.answerMethods();
  }

  get address(): string {
    return `127.0.0.1:${this.server?.port ?? 0}`;
  }

  async start(): Promise<void> {
    this.server = new RpcServer({
      listen: '127.0.0.1:0',
      services: [
        this.methodService.served,
        this.accountService.served,
        this.uploadService.served,
        this.runRecordService.served,
      ],
      logger: silentLogger,
      graceMs: 0,
    });
    await this.server.start();
  }

  async stop(): Promise<void> {
    await this.server?.stop();
  }

  key(orgId: OrgId): { key: string; authPart: string; sha256: string; keyId: KeyId } {
    const { key, authPart, authSha256 } = createServiceKey();
    const sha256 = authSha256.toString('hex');
    const keyId = newId('key');
    this.keys.set(sha256, { orgId, keyId, revokedAtMs: 0 });
    return { key, authPart, sha256, keyId };
  }

  revoke(sha256: string): void {
    const key = this.keys.get(sha256);
    if (key) key.revokedAtMs = Date.now();
  }

  /** Undoes a revocation. */
  restore(sha256: string): void {
    const key = this.keys.get(sha256);
    if (key) key.revokedAtMs = 0;
  }

  /** Adds a method whose only version, if there is a source, is published. */
  method(
    orgId: OrgId,
    source: string | null,
    schemaVersion = 'method/2',
  ): { methodId: MethodId; versionId: VersionId } {
    const methodId = newMethodId();
    this.methods.set(methodId, { orgId, methodId, publishedVersion: '', versions: new Map() });
    if (source === null) return { methodId, versionId: 'ver_none' };
    return { methodId, versionId: this.publish(methodId, source, schemaVersion) };
  }

  publish(methodId: MethodId, source: string, schemaVersion = 'method/2'): VersionId {
    const method = this.methods.get(methodId);
    if (!method) throw new Error(`no method ${methodId}`);
    const versionId = newId('ver');
    method.publishedVersion = versionId;
    method.versions.set(versionId, { schemaVersion, source });
    return versionId;
  }

  count(name: string): number {
    return this.asked.filter((asked) => asked === name).length;
  }

  private answerMethods(): void {
    this.methodService.answer({
      resolveServiceKey: ({ authSha256 }) => {
        const key = this.keys.get(Buffer.from(authSha256).toString('hex'));
        if (!key || key.revokedAtMs > 0) throw new ServiceError('unauthorized');
        return { key };
      },
      getMethod: ({ orgId, methodId }) => {
        const { publishedVersion, methodId: bare } = this.find(orgId, methodId);
        return { method: { methodId: bare, orgId, publishedVersion } };
      },
      getVersion: ({ orgId, methodId, version }) => {
        const { methodId: bare, versions } = this.find(orgId, methodId);
        const saved = versions.get(version);
        if (!saved) throw new ServiceError('not_found');
        const { schemaVersion, source } = saved;
        return {
          version: { methodId: bare, versionId: version as VersionId, schemaVersion, source: Buffer.from(source) },
        };
      },
    });
  }

  private ask(name: string): void {
    this.asked.push(name);
    if (this.away) throw new ServiceError('unavailable');
  }

  private find(orgId: OrgId, id: string): SavedMethod {
    const method = this.methods.get(id);
    if (!method || method.orgId !== orgId) throw new ServiceError('not_found');
    return method;
  }
}
