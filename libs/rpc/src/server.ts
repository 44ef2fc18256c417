// A process's gRPC server: its services, health, limits, and a stop that lets pending calls finish.
import type { DescMethod, DescService } from '@bufbuild/protobuf';
import {
  type ConnectionInjector,
  Server as GrpcServer,
  type Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import { assert } from '@methods/base/assert';
import type { Clock } from '@methods/base/clock';
import type { Stoppable } from '@methods/base/stoppable';
import { ServiceError } from '@methods/errors/service-error';
import {
  Health,
  type HealthCheckRequest,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from '@methods/proto/grpc/health/v1/health_pb';
import { type Admission, callAdmission } from './call-admission.ts';
import type { RpcLogger } from './call-handler.ts';
import { MESSAGE_BYTES_MAX, SERVER_OPTIONS } from './channel-options.ts';
import { ConnectionDoor } from './connection-door.ts';
import { methodPath } from './message-codec.ts';
import { implementation, type ServiceImplementation, serviceDefinition } from './service-definition.ts';

export type { RpcLogger } from './call-handler.ts';

const GRACE_MS = 5_000;

/** A request that is one message, and one message of an upload, unless its service says otherwise. */
const REQUEST_BYTES_MAX = 64 * 1024;
const PART_BYTES_MAX = 256 * 1024;
const CONNECTIONS_MAX = 10_000;
const ADMIT_MS = 10_000;
const STREAMS_PER_CONNECTION_MAX = 1_024;

/** How large the requests of methods may be that take more than 64 KiB. */
export type RequestSizes<S extends DescService> = { readonly [K in keyof S['method']]?: number };

/** One service and what answers it; made by `served`, which checks that they fit. */
export type ServedService = readonly [service: DescService, handlers: object, requestBytesMax?: object];

export function served<S extends DescService>(
  service: S,
  handlers: ServiceImplementation<S>,
  requestBytesMax: RequestSizes<S> = {},
): ServedService {
  return [service, handlers, requestBytesMax];
}

export interface RpcServerOptions {
  /** `host:port`; port 0 takes a free one. */
  readonly listen: string;
  readonly services: readonly ServedService[];
  readonly logger: RpcLogger;
  /** The health status from `start` on; default true. */
  readonly serving?: boolean;
  /** How long `stop` waits for calls under way; default 5 s. */
  readonly graceMs?: number;
  /** Default: plain text. */
  readonly tls?: ServerTls | undefined;
  /** The callers that are admitted; without it the port is for our own processes only. */
  readonly admission?: Admission;
  /** Fields and entries of a request; default: 1,000,000. */
  readonly elementsMax?: number;
  /** Default: 1,024. */
  readonly streamsPerConnectionMax?: number;
  /** A connection without an admitted call is cut after this time; default 10 s. */
  readonly admitMs?: number;
  /** Default: 10,000. One address has at most half of them. */
  readonly connectionsMax?: number;
  /** Default: the system's. */
  readonly clock?: Clock;
}

/** PEM. */
export interface ServerTls {
  readonly key: Buffer;
  /** With those of the authorities between it and the one that callers trust. */
  readonly certificate: Buffer;
}

export class RpcServer implements Stoppable {
  private readonly server: GrpcServer;
  private readonly door: ConnectionDoor;
  private injector: ConnectionInjector | null = null;
  private readonly health = new HealthService();
  private readonly openFrames = new Set<{ close(error?: ServiceError): void }>();
  private boundPort = 0;
  private stopped: Promise<void> | null = null;

  constructor(private readonly options: RpcServerOptions) {
    const sizes = new Map(options.services.flatMap(requestSizes));
    const streamsPerConnectionMax = options.streamsPerConnectionMax ?? STREAMS_PER_CONNECTION_MAX;
    this.door = new ConnectionDoor({
      connectionsMax: options.connectionsMax ?? CONNECTIONS_MAX,
      admitMs: options.admitMs ?? ADMIT_MS,
      accept: (socket) => this.injector?.injectConnection(socket),
    });
    const interceptor = callAdmission({
      requestBytesMax: (path) => sizes.get(path) ?? REQUEST_BYTES_MAX,
      admission: options.admission ?? null,
      streamsPerConnectionMax,
      clock: options.clock,
      onAdmitted: (address, port) => this.door.admitted(address, port),
    });
    this.server = new GrpcServer({
      ...SERVER_OPTIONS,
      'grpc.max_concurrent_streams': streamsPerConnectionMax,
      interceptors: [interceptor],
    });
    this.health.addTo(this.server);
    for (const [service, handlers] of options.services) {
      this.server.addService(
        serviceDefinition(service, options.elementsMax),
        implementation(service, handlers as ServiceImplementation<DescService>, {
          logger: options.logger,
          openFrames: this.openFrames,
          elementsMax: options.elementsMax,
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
    this.injector = this.server.createConnectionInjector(credentials);
    this.boundPort = await this.door.listen(listen);
    this.setServing(serving);
  }

  /** The port taken; only after `start`. */
  get port(): number {
    assert(this.boundPort > 0, 'the server has not started');
    return this.boundPort;
  }

  /** The status that health checks return, for the whole server and each service. Calls are answered either way. */
  setServing(serving: boolean): void {
    const names = ['', ...this.options.services.map(([service]) => service.typeName)];
    for (const name of names) this.health.set(name, serving);
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
    const callersGone = this.door.close();
    return new Promise((resolve) => {
      const force = setTimeout(() => {
        this.server.forceShutdown();
        // The server does not always report that, as for a connection that is lost at that moment.
        resolve();
      }, this.options.graceMs ?? GRACE_MS);
      // Since Node 24 the server closes its sessions itself, and its shutdown does not wait for their calls any more.
      this.server.tryShutdown(() =>
        callersGone.then(() => {
          clearTimeout(force);
          resolve();
        }),
      );
      for (const stream of this.openFrames) stream.close(new ServiceError('unavailable', 'This node is stopping.'));
    });
  }
}

function requestSizes([service, , given]: ServedService): [path: string, bytesMax: number][] {
  const sizes = (given ?? {}) as Readonly<Record<string, number>>;
  return service.methods.map((method) => [methodPath(method), sizes[method.localName] ?? usualSize(method)]);
}

function usualSize({ methodKind }: DescMethod): number {
  if (methodKind === 'bidi_streaming') return MESSAGE_BYTES_MAX;
  return methodKind === 'client_streaming' ? PART_BYTES_MAX : REQUEST_BYTES_MAX;
}

interface Reply {
  readonly status: ServingStatus;
}

type Check = ServerUnaryCall<HealthCheckRequest, Reply>;
type Watch = ServerWritableStream<HealthCheckRequest, Reply>;

/**
 * gRPC's own health protocol: whether the server and each of its services accept calls. gRPC's package for it compiles
 * its proto file when it is loaded, which takes a fifth of the start of a small process.
 */
class HealthService {
  private readonly serving = new Map<string, boolean>();
  private readonly watches = new Map<Watch, ServingStatus>();

  addTo(server: Server): void {
    server.addService(serviceDefinition(Health), {
      check: ({ request }: Check, answer: sendUnaryData<Reply>) => {
        if (this.serving.has(request.service)) answer(null, { status: this.statusOf(request.service) });
        else answer({ code: status.NOT_FOUND, details: 'The server has no such service.' });
      },
      watch: (call: Watch) => {
        call.on('cancelled', () => this.watches.delete(call));
        this.show(call);
      },
      list: (_: unknown, answer: sendUnaryData<{ statuses: Record<string, Reply> }>) => {
        const names = [...this.serving.keys()];
        answer(null, { statuses: Object.fromEntries(names.map((name) => [name, { status: this.statusOf(name) }])) });
      },
    });
  }

  /** `service` is its whole name, or empty for the server. */
  set(service: string, serving: boolean): void {
    this.serving.set(service, serving);
    for (const watch of this.watches.keys()) if (watch.request.service === service) this.show(watch);
  }

  private show(watch: Watch): void {
    const now = this.statusOf(watch.request.service);
    if (this.watches.get(watch) === now) return;
    this.watches.set(watch, now);
    watch.write({ status: now });
  }

  private statusOf(service: string): ServingStatus {
    const serving = this.serving.get(service);
    if (serving === undefined) return ServingStatus.SERVICE_UNKNOWN;
    return serving ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
  }
}
