// A table of any number of rows: only the visible ones are drawn, and it scrolls with the page. In it `j` and `k` move,
// `Enter` opens and `x` selects. On a phone each row has two lines.
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
import { useGo } from '../frame/navigate.ts';
import { useKeyHelp } from '../keyboard/help.tsx';
import { isSingleKey } from '../keyboard/single-keys.ts';
import { DataRow, type RowContent } from './data-row.tsx';
import classes from './data-table.module.css';

export interface Selection {
  readonly ids: ReadonlySet<string>;
  readonly onChange: (ids: ReadonlySet<string>) => void;
}

interface DataTableProps<Row> extends RowContent<Row> {
  /** Of the table, for screen readers: what its rows are. */
  readonly label: string;
  readonly rows: readonly Row[];
  readonly rowId: (row: Row) => string;
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
  const toggle = useCallback(
    (each: string) => {
      if (selection === undefined) return;
      const ids = new Set(selection.ids);
      if (!ids.delete(each)) ids.add(each);
      selection.onChange(ids);
    },
    [selection],
  );
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
                <input
                  type="checkbox"
                  className={classes.check}
                  aria-label="Select all rows of the list"
                  checked={allSelected}
                  ref={(box) => {
                    if (box !== null) box.indeterminate = !allSelected && selection.ids.size > 0;
                  }}
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
            return (
              <DataRow
                key={key}
                id={key}
                elementId={`${id}-${key}`}
                index={item.index}
                top={item.start - scrollMargin}
                height={item.size}
                isActive={isFocused && item.index === active}
                isSelected={selection === undefined ? null : selection.ids.has(key)}
                {...{ row, columns, template, isPhone, rowLink, onOpen, phone }}
                onToggle={toggle}
              />
            );
          })}
        </div>
      </div>
      {foot}
    </>
  );
}
