// The Inbox's filters, which are in the address: all, mine, unassigned or due soon, and one method.
import { NativeSelect } from '@mantine/core';
import type { Search } from '../../address/search.ts';
import { useMethods } from '../../api/method-names.ts';
import classes from '../../question/question.module.css';
import type { InboxCounts } from '../../question/questions.ts';

const SHOWS = ['all', 'mine', 'unassigned', 'due', 'application'] as const;
type Show = (typeof SHOWS)[number];
const WORDS: Readonly<Record<Show, string>> = {
  all: 'All of the team',
  mine: 'Mine',
  unassigned: 'Unassigned',
  due: 'Due within a day',
  application: 'Asked of applications',
};
const SOON_MS = 86_400_000;
/** The end of "due soon" moves in steps, so that the list is asked for under the same name. */
const STEP_MS = 3_600_000;

interface InboxQuery {
  readonly mine?: 'true';
  readonly unassigned?: 'true';
  readonly due_before?: string;
  readonly answer_by?: 'application';
  readonly method?: string;
}

export function queryOf({ show = 'all', method }: Search): { readonly query: InboxQuery; readonly count: number } {
  const query: InboxQuery = {
    ...(show === 'mine' && { mine: 'true' as const }),
    ...(show === 'unassigned' && { unassigned: 'true' as const }),
    ...(show === 'due' && { due_before: new Date(Math.ceil(Date.now() / STEP_MS) * STEP_MS + SOON_MS).toISOString() }),
    ...(show === 'application' && { answer_by: 'application' as const }),
    ...(method !== undefined && { method }),
  };
  return { query, count: Object.keys(query).length };
}

interface InboxFiltersProps {
  readonly search: Search;
  readonly counts: InboxCounts | undefined;
  readonly onChange: (change: Readonly<Record<string, string | null>>) => void;
}

export function InboxFilters({ search, counts, onChange }: InboxFiltersProps) {
  const methods = useMethods().data ?? [];
  const { show = 'all', method = '' } = search;
  return (
    <div className={classes.filters}>
      <NativeSelect
        aria-label="Which questions"
        size="xs"
        value={show}
        data={SHOWS.map((each) => ({ value: each, label: `${WORDS[each]}${numberOf(each, counts)}` }))}
        onChange={(event) => onChange({ show: event.currentTarget.value === 'all' ? null : event.currentTarget.value })}
      />
      <NativeSelect
        aria-label="Method"
        size="xs"
        value={method}
        data={[
          { value: '', label: 'Every method' },
          ...methods.map(({ production_id, display_name }) => ({ value: production_id, label: display_name })),
        ]}
        onChange={(event) => onChange({ method: event.currentTarget.value || null })}
      />
    </div>
  );
}

function numberOf(show: Show, counts: InboxCounts | undefined): string {
  if (counts === undefined) return '';
  const found = {
    all: counts.team,
    mine: counts.mine,
    unassigned: counts.unassigned,
    due: counts.due_soon,
    application: counts.application,
  }[show];
  return ` (${found.count.toLocaleString('en')}${found.more ? '+' : ''})`;
}
