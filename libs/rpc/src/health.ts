// gRPC's own health protocol: whether the server and each of its services take calls. The package of gRPC for it reads
// its proto file with a compiler when it is loaded, which takes a fifth of the start of a small process.
import type { ServerUnaryCall, ServerWritableStream, sendUnaryData } from '@grpc/grpc-js';
import { type Server, status } from '@grpc/grpc-js';
import {
  Health,
  type HealthCheckRequest,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from '@methods/proto/grpc/health/v1/health_pb';
import { serviceDefinition } from './service-definition.ts';

interface Reply {
  readonly status: ServingStatus;
}

type Check = ServerUnaryCall<HealthCheckRequest, Reply>;
type Watch = ServerWritableStream<HealthCheckRequest, Reply>;

export class HealthService {
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
