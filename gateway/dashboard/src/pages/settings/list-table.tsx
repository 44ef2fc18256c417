// A plain table for short lists whose rows have controls of their own.
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './settings.module.css';

interface ListTableProps {
  readonly label: string;
  readonly head: readonly string[];
  /** Set while there are more rows. */
  readonly onMore: (() => void) | undefined;
  /** Rows, each a `tr` whose first cell is a `th`. */
  readonly children: ReactNode;
}

export function ListTable({ label, head, onMore, children }: ListTableProps) {
  return (
    // It scrolls sideways on a phone, so it can be reached by keyboard.
    <section className={classes.scroll} aria-label={label} tabIndex={0}>
      <table className={classes.table}>
        <thead>
          <tr>
            {head.map((each, at) => (
              <th key={at} scope="col">
                {each === '' ? <span className="unseen">Actions</span> : each}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
      {onMore !== undefined && (
        <Button variant="default" onClick={onMore}>
          Show more
        </Button>
      )}
    </section>
  );
}
