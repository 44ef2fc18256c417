// The deadline of a question: how long is left, marked when that is short.
import { useNow } from '../time/now.ts';
import { relativeTime } from '../time/written-time.ts';
import classes from './question.module.css';

const SOON_MS = 4 * 3_600_000;

export function Due({ at }: { readonly at: string }) {
  const nowMs = useNow(5_000);
  const ms = Date.parse(at);
  const words = ms <= nowMs ? 'overdue' : `due ${relativeTime(ms, nowMs).replace('just now', 'now')}`;
  return (
    <span className={classes.due} data-soon={ms - nowMs < SOON_MS}>
      {words}
    </span>
  );
}
