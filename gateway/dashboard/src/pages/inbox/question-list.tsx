// The list of questions: what is asked, by which method, how old it is, when it is due, and whose it is.
import { useEffect, useRef } from 'react';
import type { Search } from '../../address/search.ts';
import { useMethodName } from '../../api/method-names.ts';
import { HostileText } from '../../design/hostile-text.tsx';
import { PageLink } from '../../frame/page-link.tsx';
import { Due } from '../../question/due.tsx';
import { useMemberName } from '../../question/members.ts';
import classes from '../../question/question.module.css';
import type { InboxItem } from '../../question/questions.ts';
import { useViewer } from '../../session/viewer.tsx';
import { Time } from '../../time/time.tsx';

interface QuestionListProps {
  readonly items: readonly InboxItem[];
  readonly selected: string | null;
  readonly search: Search;
  /** Called when the last questions come into view. */
  readonly onEnd: () => void;
}

export function QuestionList({ items, selected, search, onEnd }: QuestionListProps) {
  const nameOf = useMethodName();
  const end = useRef<HTMLDivElement>(null);
  const atEnd = useRef(onEnd);
  atEnd.current = onEnd;
  useEffect(() => {
    const element = end.current;
    if (element === null) return undefined;
    const watch = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && atEnd.current(),
    );
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  return (
    <>
      <ul className={classes.list} data-list>
        {items.map((item) => (
          <li key={item.id}>
            <PageLink
              to="/inbox"
              search={{ ...search, question: item.id }}
              className={classes.item}
              aria-current={item.id === selected ? 'true' : undefined}
            >
              <span className={classes.about}>
                <span className={classes.method}>{nameOf(item.method)}</span>
                <Time at={item.asked_at} as="ago" />
              </span>
              <span className={classes.prompt}>
                {item.on_device ? (
                  'A question waits'
                ) : (
                  <HostileText text={item.prompt || 'A question was asked'} max={160} />
                )}
              </span>
              <Notes item={item} />
            </PageLink>
          </li>
        ))}
      </ul>
      <div ref={end} className={classes.end} />
    </>
  );
}

function Notes({ item }: { readonly item: InboxItem }) {
  const { user } = useViewer();
  const memberName = useMemberName();
  const { assignee, needs, votes_given = 0, deadline_at, may_answer, on_device } = item;
  return (
    <span className={classes.notes}>
      {deadline_at !== null && <Due at={deadline_at} />}
      {assignee !== null && <span>{assignee === user?.id ? 'yours' : <bdi>{memberName(assignee)}</bdi>}</span>}
      {needs !== undefined && (
        <span>
          {votes_given} of {needs} answers
        </span>
      )}
      {on_device && <span>on devices</span>}
      {may_answer === false && !on_device && <span>for others</span>}
    </span>
  );
}
