// The audit log: who did what to what, and what it was before and after.
import { Button, TextInput } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { Search } from '../../address/search.ts';
import { got } from '../../api/client.ts';
import type { AuditEntry } from '../../api/shapes.ts';
import { useApi } from '../../api/use-api.ts';
import { Empty } from '../../design/empty.tsx';
import { HostileText } from '../../design/hostile-text.tsx';
import { Panel } from '../../design/panel.tsx';
import { useSearchState } from '../../frame/navigate.ts';
import { Time } from '../../time/time.tsx';
import { timeField, typedTime } from '../../time/typed-time.ts';
import { changesOf } from './audit-changes.ts';
import { ListTable } from './list-table.tsx';
import classes from './settings.module.css';

const NAMES = ['action', 'by', 'target'] as const;
const LABELS = {
  ...{ action: 'What', by: 'Who (id)', target: 'To what (id)' },
  ...{ after: 'From, local time', before: 'To, local time' },
} as const;
const TIMES = ['after', 'before'] as const;
const FILTERS = [...NAMES, ...TIMES] as const;
const HINTS = { action: 'run.cancel', by: 'usr_… or key_…', target: 'run_…, key_…, a method' } as const;

export function AuditLog() {
  const { org, api } = useApi();
  const [search, change] = useSearchState();
  const filter = filterOf(search);
  const count = Object.keys(filter).length;
  const entries = useInfiniteQuery({
    queryKey: [org, 'audit', filter],
    queryFn: ({ pageParam, signal }) =>
      got(
        api.GET('/api/audit', {
          params: { query: { limit: 100, ...filter, ...(pageParam && { cursor: pageParam }) } },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
    staleTime: 0,
  });
  return (
    <>
      <AuditFilter key={JSON.stringify(filter)} filter={filter} onChange={change} />
      <Panel
        query={entries}
        what="Entries"
        isEmpty={({ pages }) => pages.every(({ items }) => items.length === 0)}
        filters={{ count, onClear: () => change(Object.fromEntries(FILTERS.map((name) => [name, null]))) }}
        notAllowed="Only admins read the audit log."
        empty={<Empty title="Nothing has been done yet" />}
      >
        {({ pages }) => (
          <ListTable
            label="Audit log"
            head={['When', 'Who', 'What', 'To what', 'Before and after', 'From']}
            onMore={entries.hasNextPage ? () => void entries.fetchNextPage() : undefined}
          >
            {pages
              .flatMap(({ items }) => items)
              .map((entry) => (
                <tr key={entry.id}>
                  <td>
                    <Time at={entry.at} />
                  </td>
                  <th scope="row">
                    <button type="button" className={classes.link} onClick={() => change({ by: entry.by.id || null })}>
                      <HostileText text={entry.by.name || entry.by.id || entry.by.kind} max={80} />
                    </button>
                    {entry.client !== undefined && (
                      <div className={classes.quiet}>
                        by <HostileText text={entry.client} max={60} />
                      </div>
                    )}
                  </th>
                  <td>
                    <button type="button" className={classes.link} onClick={() => change({ action: entry.action })}>
                      {entry.action}
                    </button>
                  </td>
                  <td className={classes.long}>
                    <button type="button" className={classes.link} onClick={() => change({ target: entry.target.id })}>
                      <HostileText text={`${entry.target.kind} ${entry.target.id}`} max={120} />
                    </button>
                  </td>
                  <td className={classes.long}>
                    <Changes entry={entry} />
                  </td>
                  <td className={classes.mono}>
                    {entry.ip}
                    <div className={classes.quiet}>
                      <HostileText text={entry.request_id} max={40} />
                    </div>
                  </td>
                </tr>
              ))}
          </ListTable>
        )}
      </Panel>
    </>
  );
}

/** Without times that a person has mistyped in the address. */
function filterOf(search: Search): Record<string, string> {
  const times = TIMES.map((name) => [name, typedTime(search[name] ?? null)] as const);
  const texts = NAMES.map((name) => [name, search[name]] as const);
  return Object.fromEntries([...texts, ...times].flatMap(([name, value]) => (value ? [[name, value]] : [])));
}

interface AuditFilterProps {
  readonly filter: Readonly<Record<string, string>>;
  readonly onChange: (change: Readonly<Record<string, string | null>>) => void;
}

function AuditFilter({ filter, onChange }: AuditFilterProps) {
  const [values, setValues] = useState(filter);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = new FormData(event.currentTarget);
    const times = TIMES.map((name) => [name, typedTime(typed.get(name))]);
    onChange(Object.fromEntries([...NAMES.map((name) => [name, values[name]?.trim() || null]), ...times]));
  };
  return (
    <form className={classes.filters} onSubmit={submit}>
      {NAMES.map((name) => (
        <TextInput
          key={name}
          aria-label={LABELS[name]}
          placeholder={`${LABELS[name]}: ${HINTS[name]}`}
          value={values[name] ?? ''}
          maxLength={200}
          onChange={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
        />
      ))}
      {TIMES.map((name) => (
        <TextInput
          key={name}
          name={name}
          type="datetime-local"
          aria-label={LABELS[name]}
          title={LABELS[name]}
          defaultValue={timeField(filter[name])}
        />
      ))}
      <Button type="submit" variant="default">
        Filter
      </Button>
    </form>
  );
}

function Changes({ entry }: { readonly entry: AuditEntry }) {
  const changes = changesOf(entry.before, entry.after);
  if (changes.length === 0) return <span className={classes.quiet}>–</span>;
  return (
    <dl className={classes.changes}>
      {changes.map(({ name, before, after }) => (
        <div key={name}>
          <dt>
            <HostileText text={name} max={60} />
          </dt>
          <dd>
            {before !== null && (
              <del>
                <HostileText text={before} max={200} />
              </del>
            )}
            {before !== null && after !== null && ' → '}
            {after !== null && (
              <ins>
                <HostileText text={after} max={200} />
              </ins>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}
