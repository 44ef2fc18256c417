// A column as a section of the commit statement writes it: an element of a bound array for each row.
import type { ArrayElement } from './array-literal.ts';

export interface Column<Row> {
  readonly name: string;
  /** Type of the bound array's elements. */
  readonly type: string;
  readonly value: (row: Row) => ArrayElement;
  /** SQL that converts the bound element to the column, where they differ. */
  readonly sql?: string;
}
