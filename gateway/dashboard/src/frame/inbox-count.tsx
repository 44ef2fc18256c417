// The number of questions that wait, beside the Inbox.
import { useQuery } from '@tanstack/react-query';
import { got } from '../api/client.ts';
import { useApi } from '../api/use-api.ts';
import classes from './sidebar.module.css';

const SHOWN_MAX = 99;

export function InboxCount({ isNarrow }: { readonly isNarrow: boolean }) {
  const { org, api } = useApi();
  const open = useQuery({
    queryKey: [org, 'questions', 'count'],
    queryFn: async () =>
      (await got(api.GET('/api/inbox', { params: { query: { limit: SHOWN_MAX + 1 } } }))).items.length,
    meta: { staleOn: ['question'], everyMs: 3_000 },
  });
  if (open.data === undefined || open.data === 0) return null;
  const text = open.data > SHOWN_MAX ? `${SHOWN_MAX}+` : String(open.data);
  return (
    <span className={isNarrow ? classes.dot : classes.count}>
      <span className={isNarrow ? 'unseen' : undefined}>{text}</span>
      <span className="unseen"> open questions</span>
    </span>
  );
}
