// Leases for a test, on a clock that does not advance: none of them ends by itself.
import { ManualClock } from '../manual-clock.fixture.ts';
import { LeaseTable } from './lease-table.ts';

const LEASE_MS = 60_000;

export function quietLeases(clock = new ManualClock()): LeaseTable {
  const nothing = () => {};
  return new LeaseTable({
    clock,
    leaseMs: LEASE_MS,
    standsStill: () => false,
    expired: nothing,
    unaccepted: nothing,
  });
}
