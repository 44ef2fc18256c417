// Holds back the 429 of whoever goes on asking after many of them, whatever refused it. Each costs as much as many a good
// request, and a client that does not heed Retry-After would otherwise take the event loop of the others with them.
import { callerId } from '@methods/auth/caller';
import type { Clock } from '@methods/base/clock';
import { SlowLane } from '@methods/base/slow-lane';
import type { FastifyInstance } from 'fastify';
import { countedAddress } from './counted-address.ts';

export function addSlowRefusals(app: FastifyInstance, clock: Clock): void {
  const lane = new SlowLane(clock);
  app.addHook('onSend', (request, reply, _payload, done) => {
    if (reply.statusCode !== 429) return done();
    const who = request.caller === null ? countedAddress(request.ip) : callerId(request.caller);
    lane.pass(who, done);
  });
}
