// The gateway's parts and the order they start in: the one place that touches the container.
import { type Clock, systemClock } from '@methods/base/clock';
import { type Stoppable, startAll, stopAll } from '@methods/base/stoppable';
import { Bus } from '@methods/bus/connection';
import type { Logger } from '@methods/logging/logger';
import type { FastifyInstance } from 'fastify';
import { container, type InjectionToken } from 'tsyringe';
import { MethodRegistry } from './clients/method-registry.ts';
import { followRegistryChanges } from './clients/registry-changes.ts';
import { RunScheduler } from './clients/run-scheduler.ts';
import type { Config } from './config.ts';
import { buildServer, type ServerParts } from './server.ts';

export interface Gateway extends Stoppable {
  /** Resolves once requests are accepted; /readyz tells when they can be served. */
  start(): Promise<void>;
  /** The HTTP port; only after `start`. */
  readonly port: number;
}

const ClockToken: InjectionToken<Clock> = Symbol('Clock');
const LoggerToken: InjectionToken<Logger> = Symbol('Logger');

export function composeGateway(config: Config, logger: Logger): Gateway {
  const parts = container.createChildContainer();
  parts.registerInstance(ClockToken, systemClock);
  parts.registerInstance(LoggerToken, logger);
  parts.register(RunScheduler, {
    useFactory: (from) =>
      new RunScheduler({
        addresses: config.runSchedulerAddresses,
        clock: from.resolve(ClockToken),
        logger: from.resolve(LoggerToken).child({ part: 'run-scheduler' }),
      }),
  });
  parts.register(MethodRegistry, {
    useFactory: (from) =>
      new MethodRegistry({ address: config.methodRegistryAddress, clock: from.resolve(ClockToken) }),
  });
  const scheduler = parts.resolve(RunScheduler);
  const registry = parts.resolve(MethodRegistry);
  const before: Stoppable[] = [scheduler, registry];
  if (config.natsUrl !== null) before.push(registryBus(config.natsUrl.reveal(), registry, logger));

  let stopping = false;
  const http = httpServer(config, {
    scheduler,
    registry,
    clock: parts.resolve(ClockToken),
    logger,
    webhooks: config.webhooks,
    publicUrl: config.publicUrl,
    rateLimitPerKey: config.rateLimitPerKey,
    trustProxy: config.trustProxy,
    stopping: () => stopping,
  });
  return {
    start: () => startAll([...before, http]),
    async stop() {
      stopping = true;
      // Waiting requests are answered with their run as it is, so that closing waits for nobody.
      scheduler.endWaits();
      await stopAll([...before, http]);
    },
    get port() {
      return http.port;
    },
  };
}

function registryBus(url: string, registry: MethodRegistry, logger: Logger): Bus {
  const bus = new Bus({ url, name: 'gateway', logger: logger.child({ part: 'bus' }) });
  followRegistryChanges(bus, registry);
  return bus;
}

function httpServer(config: Config, parts: ServerParts): Stoppable & { readonly port: number } {
  let server: FastifyInstance | null = null;
  return {
    async start() {
      server = await buildServer(parts);
      await server.listen(config.listen);
    },
    async stop() {
      await server?.close();
    },
    get port() {
      const address = server?.server.address();
      return typeof address === 'object' && address !== null ? address.port : 0;
    },
  };
}
