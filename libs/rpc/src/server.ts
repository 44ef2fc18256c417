// A process's gRPC server: its services, health, limits, and an end that loses nothing it need not.
import type { DescService } from '@bufbuild/protobuf';
import { Server as GrpcServer, ServerCredentials } from '@grpc/grpc-js';
import { assert } from '@methods/base/assert';
import type { Stoppable } from '@methods/base/stoppable';
import { ServiceError } from '@methods/errors/service-error';
import { HealthImplementation } from 'grpc-health-check';
import type { RpcLogger } from './call-handler.ts';
import { SERVER_OPTIONS } from './channel-options.ts';
import { implementation, type ServiceImplementation, serviceDefinition } from './service-definition.ts';

export type { RpcLogger } from './call-handler.ts';

const GRACE_MS = 5_000;

/** One service and what answers it; made by `served`, which checks that they fit. */
export type ServedService = readonly [service: DescService, handlers: object];

export function served<S extends DescService>(service: S, handlers: ServiceImplementation<S>): ServedService {
  return [service, handlers];
}

export interface RpcServerOptions {
  /** `host:port`; port 0 takes a free one. */
  readonly listen: string;
  readonly services: readonly ServedService[];
  readonly logger: RpcLogger;
  /** What health says from `start` on; default true. */
  readonly serving?: boolean;
  /** How long `stop` waits for calls under way; default 5 s. */
  readonly graceMs?: number;
  /** Default: plain text. */
  readonly tls?: ServerTls | undefined;
}

/** PEM. */
export interface ServerTls {
  readonly key: Buffer;
  /** With those of the authorities between it and the one that callers trust. */
  readonly certificate: Buffer;
}

export class RpcServer implements Stoppable {
  private readonly server = new GrpcServer(SERVER_OPTIONS);
  private readonly health: HealthImplementation;
  private readonly openFrames = new Set<{ close(error?: ServiceError): void }>();
  private boundPort = 0;
  private stopped: Promise<void> | null = null;

  constructor(private readonly options: RpcServerOptions) {
    this.health = new HealthImplementation({});
    this.health.addToServer(this.server);
    for (const [service, handlers] of options.services) {
      this.server.addService(
        serviceDefinition(service),
        implementation(service, handlers as ServiceImplementation<DescService>, {
          logger: options.logger,
          openFrames: this.openFrames,
        }),
      );
    }
    this.setServing(false);
  }

  /** @throws when the address cannot be taken. */
  async start(): Promise<void> {
    const { listen, tls, serving = true } = this.options;
    const credentials =
      tls === undefined
        ? ServerCredentials.createInsecure()
        : ServerCredentials.createSsl(null, [{ private_key: tls.key, cert_chain: tls.certificate }]);
    this.boundPort = await new Promise<number>((resolve, reject) => {
      this.server.bindAsync(listen, credentials, (error, port) => (error ? reject(error) : resolve(port)));
    });
    this.setServing(serving);
  }

  /** The port taken; only after `start`. */
  get port(): number {
    assert(this.boundPort > 0, 'the server has not started');
    return this.boundPort;
  }

  /** What health checks hear, for the whole server and each service. Calls are answered either way. */
  setServing(serving: boolean): void {
    const names = ['', ...this.options.services.map(([service]) => service.typeName)];
    for (const name of names) this.health.setStatus(name, serving ? 'SERVING' : 'NOT_SERVING');
  }

  /**
   * Health turns NOT_SERVING, new connections are refused, open streams of frames end with `unavailable`, calls under
   * way may finish within `graceMs`; then everything is cut.
   */
  stop(): Promise<void> {
    this.stopped ??= this.stopOnce();
    return this.stopped;
  }

  private stopOnce(): Promise<void> {
    this.setServing(false);
    return new Promise((resolve) => {
      const force = setTimeout(() => this.server.forceShutdown(), this.options.graceMs ?? GRACE_MS);
      this.server.tryShutdown(() => {
        clearTimeout(force);
        resolve();
      });
      for (const stream of this.openFrames) stream.close(new ServiceError('unavailable', 'This node is stopping.'));
    });
  }
}
