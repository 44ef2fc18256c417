// The filters of the list, kept in the address: status, method, time, text and metadata.
import { Button, Menu, Select, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useState } from 'react';
import { type Search, stringifySearch } from '../../address/search.ts';
import { useMethodName, useMethods } from '../../api/method-names.ts';
import type { RunStatus } from '../../api/shapes.ts';
import { CopyButton } from '../../design/copy-button.tsx';
import { Icon } from '../../design/icons.tsx';
import { StatusIcon, statusWord } from '../../design/status-badge.tsx';
import { shortTime } from '../../time/written-time.ts';
import { useZone } from '../../time/zone.tsx';
import { filterCount, filterTime, isGrouped, typedPair, withFixedTime, withoutFilters } from './run-filter.ts';
import classes from './run-filters.module.css';
import { TimeFields } from './time-fields.tsx';

interface RunFiltersProps {
  readonly search: Search;
  readonly onChange: (change: Readonly<Record<string, string | null>>, push?: boolean) => void;
}

const STATUSES: readonly RunStatus[] = ['queued', 'running', 'waiting', 'succeeded', 'failed', 'cancelled'];
const LAST: readonly (readonly [string, string])[] = [
  ['15m', 'Last 15 minutes'],
  ['1h', 'Last hour'],
  ['24h', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
  ['30d', 'Last 30 days'],
];
const TYPED_MS = 300;

export function RunFilters({ search, onChange }: RunFiltersProps) {
  const methods = useMethods();
  return (
    <div className={classes.filters} role="search" aria-label="Filter the runs">
      <FilterText search={search} onChange={onChange} />
      <Select
        aria-label="Method"
        placeholder="All methods"
        data={(methods.data ?? []).map((each) => ({ value: each.production_id, label: each.display_name }))}
        value={search.method ?? null}
        onChange={(method) => onChange({ method })}
        searchable
        clearable
        limit={50}
        nothingFoundMessage="No such method"
        w={180}
      />
      <TimeMenu search={search} onChange={onChange} />
      <div className={classes.statuses} role="group" aria-label="Status">
        {STATUSES.map((status) => (
          <button
            key={status}
            type="button"
            className={classes.status}
            aria-pressed={search.status === status}
            onClick={() => onChange({ status: search.status === status ? null : status })}
          >
            <StatusIcon status={status} />
            <span>{statusWord(status)}</span>
          </button>
        ))}
        {(search.status === undefined || search.status === 'failed') && (
          <button
            type="button"
            className={classes.status}
            aria-pressed={isGrouped(search)}
            onClick={() => onChange(isGrouped(search) ? { group: null } : { group: 'cause', status: 'failed' })}
          >
            Group by cause
          </button>
        )}
      </div>
      <Chips search={search} onChange={onChange} />
    </div>
  );
}

function FilterText({ search, onChange }: RunFiltersProps) {
  const kept = search.text ?? '';
  const [text, setText] = useState(kept);
  useEffect(() => setText(kept), [kept]);
  const keep = useDebouncedCallback((typed: string) => onChange({ text: typed.trim() || null }, false), TYPED_MS);
  return (
    <TextInput
      aria-label="Id, metadata or error; order=712 selects by metadata"
      placeholder="Id, metadata, error, or order=712"
      leftSection={<Icon name="search" size={14} />}
      value={text}
      maxLength={200}
      data-filter
      className={classes.text ?? ''}
      onChange={(event) => {
        setText(event.currentTarget.value);
        if (typedPair(event.currentTarget.value) === null) keep(event.currentTarget.value);
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') event.currentTarget.blur();
        const pair = event.key === 'Enter' ? typedPair(text) : null;
        if (pair === null) return;
        setText('');
        onChange({ [pair.name]: pair.value, text: null });
      }}
    />
  );
}

function TimeMenu({ search, onChange }: RunFiltersProps) {
  const zone = useZone();
  const [isOpen, setOpen] = useState(false);
  const { last } = search;
  const [after, before] = [filterTime(search, 'created_after'), filterTime(search, 'created_before')];
  const time = (text: string) => shortTime(Date.parse(text), zone, Date.now());
  const fixed = [after && time(after), before && time(before)].filter(Boolean).join(' – ');
  const word = LAST.find(([name]) => name === last)?.[1];
  const choose = (change: Record<string, string | null>) => {
    setOpen(false);
    onChange({ last: null, created_after: null, created_before: null, ...change });
  };
  return (
    <Menu opened={isOpen} onChange={setOpen} position="bottom-start" width={280}>
      <Menu.Target>
        <Button variant="default" leftSection={<Icon name="clock" size={14} />}>
          {fixed || word || 'Any time'}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => choose({})}>Any time</Menu.Item>
        {LAST.map(([name, title]) => (
          <Menu.Item key={name} onClick={() => choose({ last: name })}>
            {title}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <TimeFields
          after={after}
          before={before}
          onChange={(from, to) => choose({ created_after: from, created_before: to })}
        />
      </Menu.Dropdown>
    </Menu>
  );
}

/** Filters that have no control of their own, and the way out of all. */
function Chips({ search, onChange }: RunFiltersProps) {
  const nameOf = useMethodName();
  const shown = Object.entries(search).filter(
    ([name]) => name === 'version' || name === 'started_by' || name.startsWith('metadata.'),
  );
  const count = filterCount(search);
  if (count === 0) return null;
  return (
    <div className={classes.chips}>
      {shown.map(([name, value]) => (
        <button
          key={name}
          type="button"
          className={classes.chip}
          aria-label={`Remove the filter ${name}`}
          onClick={() => onChange({ [name]: null })}
        >
          <bdi>
            {name.replace(/^metadata\./, '')}={name === 'method' ? nameOf(value) : value}
          </bdi>
          <Icon name="cross" size={12} />
        </button>
      ))}
      <CopyButton text={() => linkTo(search)} what="a link to these runs, with a fixed time" />
      <Button variant="subtle" size="compact-xs" onClick={() => onChange(withoutFilters(search))}>
        Clear {count === 1 ? 'the filter' : `${count} filters`}
      </Button>
    </div>
  );
}

function linkTo(search: Search): string {
  const { origin, pathname } = window.location;
  return origin + pathname + stringifySearch(withFixedTime(search, Date.now()));
}
