// The place of rows that are being loaded. It appears late, so that a quick reply does not flash.
import classes from './skeleton.module.css';

export function Skeleton({ rows, what }: { readonly rows: number; readonly what: string }) {
  return (
    <div className={classes.skeleton} role="status">
      <span className="unseen">{what} are being loaded.</span>
      {Array.from({ length: rows }, (_, at) => (
        <div key={at} className={classes.row}>
          <div className={classes[WIDTHS[at % WIDTHS.length] ?? 'long']} />
        </div>
      ))}
    </div>
  );
}

const WIDTHS = ['long', 'short', 'middle'] as const;
