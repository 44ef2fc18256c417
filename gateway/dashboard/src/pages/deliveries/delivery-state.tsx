// The state of a delivery: a mark, a word and a colour.
import type { Delivery } from '../../api/shapes.ts';
import { StatusIcon } from '../../design/status-badge.tsx';
import classes from './deliveries.module.css';
import { STATUSES } from './delivery-filter.ts';

const MARKS = { pending: 'queued', delivered: 'succeeded', exhausted: 'failed', stopped: 'cancelled' } as const;

export function DeliveryState({ delivery: { status } }: { readonly delivery: Pick<Delivery, 'status'> }) {
  return (
    <span className={classes.state}>
      <StatusIcon status={MARKS[status]} />
      {STATUSES.find(({ value }) => value === status)?.word}
    </span>
  );
}
