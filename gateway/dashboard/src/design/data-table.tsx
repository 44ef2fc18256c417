// A table of any number of rows: only the visible ones are drawn, and it scrolls with the page. In it `j` and `k` move,
// `Enter` opens and `x` selects. On a phone each row has two lines.
import { Checkbox } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { defaultRangeExtractor, type Range, useWindowVirtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import type { Search } from '../address/search.ts';
import { useGo } from '../frame/navigate.ts';
import { PageLink } from '../frame/page-link.tsx';
import { useKeyHelp } from '../keyboard/help.tsx';
import { isSingleKey } from '../keyboard/single-keys.ts';
import classes from './data-table.module.css';

export interface Column<Row> {
  readonly id: string;
  readonly header: ReactNode;
  /** As CSS writes a grid's column, like `120px` or `minmax(160px, 2fr)`. */
  readonly width: string;
  readonly align?: 'end';
  readonly cell: (row: Row) => ReactNode;
}

export interface Selection {
  readonly ids: ReadonlySet<string>;
  readonly onChange: (ids: ReadonlySet<string>) => void;
}

interface DataTableProps<Row> {
  /** Of the table, for screen readers: what its rows are. */
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly rowId: (row: Row) => string;
  /** Where a row leads; null: nowhere. */
  readonly rowLink?: (row: Row) => { readonly to: string; readonly search?: Search } | null;
  /** In place of `rowLink`: what a row opens. */
  readonly onOpen?: (row: Row) => void;
  /** The first cell of a row names it; the link is there. */
  readonly phone: (row: Row) => { readonly first: ReactNode; readonly second: ReactNode };
  readonly selection?: Selection | undefined;
  /** Called when the last rows come into view. */
  readonly onEnd?: (() => void) | undefined;
  /** Below the last row. */
  readonly foot?: ReactNode;
}

const ROW_PX = 36;
const PHONE_ROW_PX = 60;
const OVERSCAN = 12;
const HELP = {
  title: 'In a list',
  keys: [
    { keys: 'j k', does: 'Move down and up' },
    { keys: 'Enter', does: 'Open' },
    { keys: 'x', does: 'Select' },
    { keys: 'Home End', does: 'First and last row' },
  ],
};

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, rows, columns, rowId, rowLink, onOpen, phone, selection, onEnd, foot } = props;
  useKeyHelp(HELP);
  const isPhone = useMediaQuery('(max-width: 720px)', false, { getInitialValueInEffect: false });
  const go = useGo();
  const id = useId();
  const body = useRef<HTMLDivElement>(null);
  const [activeId, setActiveId] = useState<string | null>(null);
  const [isFocused, setFocused] = useState(false);
  const [scrollMargin, setScrollMargin] = useState(0);
  const active = activeId === null ? -1 : rows.findIndex((row) => rowId(row) === activeId);

  useLayoutEffect(() => {
    const top = body.current === null ? 0 : body.current.getBoundingClientRect().top + window.scrollY;
    if (Math.abs(top - scrollMargin) > 1) setScrollMargin(top);
  });

  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => (isPhone ? PHONE_ROW_PX : ROW_PX),
    overscan: OVERSCAN,
    scrollMargin,
    getItemKey: (index) => rowId(rows[index] as Row),
    // The active row is named by the table, so it has to be there.
    rangeExtractor: useCallback(
      (range: Range) => {
        const indexes = defaultRangeExtractor(range);
        return active < 0 || indexes.includes(active) ? indexes : [...indexes, active].sort((a, b) => a - b);
      },
      [active],
    ),
  });
  const { measure } = virtualizer;
  useEffect(() => measure(), [measure, isPhone]);

  const items = virtualizer.getVirtualItems();
  const lastShown = items.at(-1)?.index ?? -1;
  useEffect(() => {
    if (rows.length > 0 && lastShown >= rows.length - OVERSCAN) onEnd?.();
  }, [lastShown, rows.length, onEnd]);

  const moveTo = (index: number) => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, index))];
    if (row === undefined) return;
    setActiveId(rowId(row));
    virtualizer.scrollToIndex(Math.max(0, Math.min(rows.length - 1, index)), { align: 'auto' });
  };
  const toggle = (each: string) => {
    if (selection === undefined) return;
    const ids = new Set(selection.ids);
    if (!ids.delete(each)) ids.add(each);
    selection.onChange(ids);
  };
  const open = (row: Row) => {
    if (onOpen !== undefined) return onOpen(row);
    const link = rowLink?.(row);
    if (link) go(link.to, link.search);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget) return;
    const row = rows[active];
    const isLetter = event.key.length === 1;
    if (isLetter && !isSingleKey(event)) return;
    if (event.key === 'j' || event.key === 'ArrowDown') moveTo(active + 1);
    else if (event.key === 'k' || event.key === 'ArrowUp') moveTo(Math.max(0, active - 1));
    else if (event.key === 'Home') moveTo(0);
    else if (event.key === 'End') moveTo(rows.length - 1);
    else if (event.key === 'Enter' && row !== undefined) open(row);
    else if ((event.key === 'x' || event.key === ' ') && row !== undefined && selection !== undefined)
      toggle(rowId(row));
    else return;
    event.preventDefault();
  };

  const template = [...(selection === undefined ? [] : ['32px']), ...columns.map(({ width }) => width)].join(' ');
  const allSelected = rows.length > 0 && rows.every((row) => selection?.ids.has(rowId(row)));
  return (
    <>
      <div
        role="grid"
        aria-label={label}
        aria-rowcount={rows.length + 1}
        aria-multiselectable={selection !== undefined}
        aria-activedescendant={active < 0 ? undefined : `${id}-${activeId}`}
        tabIndex={0}
        className={classes.table}
        data-list
        onKeyDown={onKeyDown}
        onFocus={(event) => {
          if (event.target !== event.currentTarget) return;
          setFocused(true);
          if (active < 0 && rows.length > 0) moveTo(items[0]?.index ?? 0);
        }}
        onBlur={() => setFocused(false)}
      >
        {!isPhone && (
          <div role="row" className={classes.head} style={{ gridTemplateColumns: template }}>
            {selection !== undefined && (
              <span role="columnheader">
                <Checkbox
                  size="xs"
                  aria-label="Select all rows of the list"
                  checked={allSelected}
                  indeterminate={!allSelected && selection.ids.size > 0}
                  onChange={() => selection.onChange(allSelected ? new Set() : new Set(rows.map(rowId)))}
                />
              </span>
            )}
            {columns.map(({ id: column, header, align }) => (
              <span role="columnheader" key={column} data-align={align}>
                {header}
              </span>
            ))}
          </div>
        )}
        <div ref={body} role="rowgroup" className={classes.body} style={{ height: virtualizer.getTotalSize() }}>
          {items.map((item) => {
            const row = rows[item.index] as Row;
            const key = rowId(row);
            const link = rowLink?.(row) ?? null;
            const lines = isPhone ? phone(row) : null;
            const isSelected = selection?.ids.has(key) ?? false;
            const [first, ...rest] = columns;
            const named = (content: ReactNode) =>
              link === null ? (
                content
              ) : (
                <PageLink to={link.to} search={link.search ?? {}} className={classes.link} tabIndex={-1}>
                  {content}
                </PageLink>
              );
            const box = selection !== undefined && (
              <span role="gridcell" className={classes.box}>
                <Checkbox
                  size="xs"
                  tabIndex={-1}
                  aria-label={`Select ${key}`}
                  checked={isSelected}
                  onChange={() => toggle(key)}
                />
              </span>
            );
            return (
              <div
                key={key}
                id={`${id}-${key}`}
                role="row"
                aria-rowindex={item.index + 2}
                aria-selected={selection === undefined ? undefined : isSelected}
                className={classes.row}
                data-active={isFocused && item.index === active}
                data-opens={link !== null || onOpen !== undefined}
                onClick={onOpen === undefined ? undefined : () => onOpen(row)}
                style={{
                  height: item.size,
                  transform: `translateY(${item.start - scrollMargin}px)`,
                  ...(lines === null && { gridTemplateColumns: template }),
                }}
              >
                {box}
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
          })}
        </div>
      </div>
      {foot}
    </>
  );
}
