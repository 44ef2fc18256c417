// /healthz: the process is alive. /readyz: it can serve, or the reason why not.
import type { Clock } from '@methods/base/clock';
import type { FastifyInstance } from 'fastify';
import type { MethodRegistry } from '../clients/method-registry.ts';
import type { RunScheduler } from '../clients/run-scheduler.ts';
import { JSON_TYPE } from '../plugins/error-reply.ts';

export interface HealthParts {
  readonly scheduler: Pick<RunScheduler, 'ready'>;
  readonly registry: Pick<MethodRegistry, 'answers'>;
  readonly clock: Clock;
  /** True once the process is stopping. */
  readonly stopping: () => boolean;
}

const PROBE = { schema: { hide: true }, config: { probe: true } };
// Probes of many load balancers cost the registry one call a second.
const PROBE_AGE_MS = 1_000;

export function addHealth(app: FastifyInstance, { scheduler, registry, clock, stopping }: HealthParts): void {
  let probe = Promise.resolve(false);
  let probedAtMs = Number.NEGATIVE_INFINITY;
  function registryAnswers(): Promise<boolean> {
    if (clock.monotonicMs() - probedAtMs > PROBE_AGE_MS) {
      probedAtMs = clock.monotonicMs();
      probe = registry.answers();
    }
    return probe;
  }

  app.get('/healthz', PROBE, async (_request, reply) => {
    reply.header('content-type', JSON_TYPE);
    return '{"status":"ok"}';
  });

  app.get('/readyz', PROBE, async (_request, reply) => {
    const missing: string[] = [];
    if (stopping()) missing.push('stopping');
    if (!scheduler.ready) missing.push('run-scheduler');
    if (!(await registryAnswers())) missing.push('method-registry');
    reply.code(missing.length === 0 ? 200 : 503).header('content-type', JSON_TYPE);
    return JSON.stringify(missing.length === 0 ? { status: 'ready' } : { status: 'not_ready', missing });
  });
}
