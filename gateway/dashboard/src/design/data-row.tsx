// A row of a table. It is drawn again only when something of it has changed, not while one scrolls.
import { memo, type ReactNode } from 'react';
import type { Search } from '../address/search.ts';
import { PageLink } from '../frame/page-link.tsx';
import classes from './data-table.module.css';

export interface Column<Row> {
  readonly id: string;
  readonly header: ReactNode;
  /** As CSS writes a grid's column, like `120px` or `minmax(160px, 2fr)`. */
  readonly width: string;
  readonly align?: 'end';
  readonly cell: (row: Row) => ReactNode;
}

export interface RowContent<Row> {
  readonly columns: readonly Column<Row>[];
  /** Where a row leads; null: nowhere. */
  readonly rowLink?: ((row: Row) => { readonly to: string; readonly search?: Search } | null) | undefined;
  /** In place of `rowLink`: what a row opens. */
  readonly onOpen?: ((row: Row) => void) | undefined;
  /** The first cell of a row names it; the link is there. */
  readonly phone: (row: Row) => { readonly first: ReactNode; readonly second: ReactNode };
}

interface DataRowProps<Row> extends RowContent<Row> {
  readonly row: Row;
  readonly id: string;
  readonly elementId: string;
  readonly index: number;
  /** In px, from the first row's. */
  readonly top: number;
  readonly height: number;
  /** Of the columns, as CSS writes them. */
  readonly template: string;
  readonly isPhone: boolean;
  readonly isActive: boolean;
  /** Null: it cannot be selected. */
  readonly isSelected: boolean | null;
  readonly onToggle: (id: string) => void;
}

export const DataRow = memo(DrawnRow) as typeof DrawnRow;

function DrawnRow<Row>(props: DataRowProps<Row>) {
  const { row, id, elementId, index, top, height, columns, template, isPhone, isActive, isSelected } = props;
  const { rowLink, onOpen, phone, onToggle } = props;
  const link = rowLink?.(row) ?? null;
  const lines = isPhone ? phone(row) : null;
  const [first, ...rest] = columns;
  const named = (content: ReactNode) =>
    link === null ? (
      content
    ) : (
      <PageLink to={link.to} search={link.search ?? {}} className={classes.link} tabIndex={-1}>
        {content}
      </PageLink>
    );
  return (
    <div
      id={elementId}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected ?? undefined}
      className={classes.row}
      data-active={isActive}
      data-opens={link !== null || onOpen !== undefined}
      onClick={onOpen === undefined ? undefined : () => onOpen(row)}
      style={{
        height,
        transform: `translateY(${top}px)`,
        ...(lines === null && { gridTemplateColumns: template }),
      }}
    >
      {isSelected !== null && (
        <span role="gridcell" className={classes.box}>
          <input
            type="checkbox"
            className={classes.check}
            tabIndex={-1}
            aria-label={`Select ${id}`}
            checked={isSelected}
            onChange={() => onToggle(id)}
          />
        </span>
      )}
      {lines === null ? (
        <>
          <span role="gridcell" data-align={first?.align}>
            {named(first?.cell(row))}
          </span>
          {rest.map(({ id: column, align, cell }) => (
            <span role="gridcell" key={column} data-align={align}>
              {cell(row)}
            </span>
          ))}
        </>
      ) : (
        <span role="gridcell" className={classes.lines}>
          <span>{named(lines.first)}</span>
          <span className={classes.second}>{lines.second}</span>
        </span>
      )}
    </div>
  );
}
