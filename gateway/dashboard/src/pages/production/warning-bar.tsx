// What needs a hand, each with a link to where it is mended.
import type { Search } from '../../address/search.ts';
import { useMethodName } from '../../api/method-names.ts';
import { Icon } from '../../design/icons.tsx';
import { PageLink } from '../../frame/page-link.tsx';
import classes from './warning-bar.module.css';
import { useWarnings, type Warnings } from './watch.ts';

type Warning = Warnings['items'][number];

const SHOWN_MAX = 5;

export function WarningBar() {
  const { data } = useWarnings();
  const nameOf = useMethodName();
  if (data === undefined || data.items.length === 0) return null;
  return (
    <ul className={classes.bar} aria-label="Needs a hand">
      {data.items.slice(0, SHOWN_MAX).map((warning) => {
        const { text, to, search = {} } = written(warning, nameOf);
        return (
          <li key={`${warning.kind} ${warning.method} ${warning.needs}`}>
            <Icon name="warning" size={14} />
            <PageLink to={to} search={search} className={classes.link}>
              <bdi>{text}</bdi>
            </PageLink>
          </li>
        );
      })}
      {data.items.length > SHOWN_MAX && (
        <li>
          <PageLink to="/workers" className={classes.link}>
            {data.items.length - SHOWN_MAX} more
          </PageLink>
        </li>
      )}
    </ul>
  );
}

function written(warning: Warning, nameOf: (method: string) => string): { text: string; to: string; search?: Search } {
  const { kind, method, needs = [], count, more } = warning;
  const many = `${count.toLocaleString('en')}${more ? '+' : ''}`;
  const runs = count === 1 && !more ? '1 run waits' : `${many} runs wait`;
  const queued: Search = { status: 'queued', ...(method !== undefined && { method }) };
  const name = method === undefined ? '' : nameOf(method);
  switch (kind) {
    case 'no_worker':
      return { text: `${name} has no worker: ${runs}`, to: '/workers', search: {} };
    case 'feature_missing':
      return { text: `${name} needs a worker with ${needs.join(', ')}: ${runs}`, to: '/workers' };
    case 'key_missing':
      return { text: `${name} needs a worker with the key of its runs: ${runs}`, to: '/', search: queued };
    case 'deliveries_exhausted':
      return { text: `${many} deliveries have failed for good`, to: '/deliveries', search: { status: 'exhausted' } };
    case 'questions_due':
      return { text: `${many} questions are due within an hour`, to: '/inbox', search: { due: '1h' } };
    default:
      return { text: `${kind}: ${many}`, to: '/', search: queued };
  }
}
