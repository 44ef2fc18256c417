// Inbox: the questions that wait for an answer on the left, and one of them on the right.
import { useMediaQuery } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useState } from 'react';
import type { Search } from '../../address/search.ts';
import { got } from '../../api/client.ts';
import { useApi } from '../../api/use-api.ts';
import { Empty } from '../../design/empty.tsx';
import { Icon } from '../../design/icons.tsx';
import { Page } from '../../design/page.tsx';
import { Panel } from '../../design/panel.tsx';
import { useSearchState } from '../../frame/navigate.ts';
import { PageLink } from '../../frame/page-link.tsx';
import { useKeyHelp } from '../../keyboard/help.tsx';
import { isSingleKey } from '../../keyboard/single-keys.ts';
import classes from '../../question/question.module.css';
import { QuestionPane } from '../../question/question-pane.tsx';
import type { InboxItem } from '../../question/questions.ts';
import { HeldQuestions, useHeldBack } from './held-questions.tsx';
import { InboxFilters, queryOf } from './inbox-filters.tsx';
import { QuestionList } from './question-list.tsx';

const PAGE = 50;
const HELP = {
  title: 'In the Inbox',
  keys: [
    { keys: 'j k', does: 'Next and previous question' },
    { keys: '1 … 9', does: 'Choose' },
    { keys: 'Ctrl Enter', does: 'Send the answer' },
  ],
};

export function InboxPage() {
  useKeyHelp(HELP);
  const { org, api } = useApi();
  const router = useRouter();
  const [search, change] = useSearchState();
  const isPhone = useMediaQuery('(max-width: 720px)', window.innerWidth <= 720, { getInitialValueInEffect: false });
  const { query, count } = queryOf(search);
  const list = useInfiniteQuery({
    queryKey: [org, 'questions', 'list', query],
    queryFn: ({ pageParam, signal }) =>
      got(
        api.GET('/api/inbox', {
          params: { query: { limit: PAGE, ...query, ...(pageParam && { cursor: pageParam }) } },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
    meta: { staleOn: ['question'], everyMs: 1_500 },
  });
  const counts = useQuery({
    queryKey: [org, 'questions', 'counts'],
    queryFn: () => got(api.GET('/api/inbox/counts')),
    meta: { staleOn: ['question'], everyMs: 3_000 },
  });
  const all = list.data?.pages.flatMap(({ items }) => items) ?? [];
  const selected = search.question ?? null;
  const held = useHeldBack(all, JSON.stringify(query), selected);
  const first = held.shown[0]?.id;
  useEffect(() => {
    if (!isPhone && selected === null && first !== undefined) change({ question: first }, false);
  }, [isPhone, selected, first, change]);

  /** The question that follows an answer. */
  const [next, setNext] = useState<string | null>(null);
  const open = (item: InboxItem | undefined, push = true) => change({ question: item?.id ?? null }, push);
  /** After an answer: the next question that this person may answer here. */
  const openNext = (answered: string) => {
    // The reply may come when the person has gone elsewhere, and writes there.
    if ((router.state.location.search as Search).question !== answered) return;
    const at = held.shown.findIndex(({ id }) => id === answered);
    const others = [...held.shown.slice(at + 1), ...held.shown.slice(0, Math.max(0, at))];
    const following = others.find(({ may_answer, on_device }) => may_answer !== false && !on_device);
    setNext(following?.id ?? null);
    // Without another one, the answered question says what was sent.
    if (following !== undefined) open(following, false);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!isSingleKey(event) || (event.key !== 'j' && event.key !== 'k')) return;
    const at = held.shown.findIndex(({ id }) => id === selected);
    const to = held.shown[at + (event.key === 'j' ? 1 : -1)];
    if (to === undefined) return;
    event.preventDefault();
    open(to, false);
  };

  const clear = () => change({ show: null, method: null, question: null });
  const showsList = !isPhone || selected === null;
  return (
    <Page title="Inbox">
      <div className={classes.panes} data-phone={isPhone} data-inbox onKeyDown={onKeyDown}>
        {showsList && (
          <section className={classes.left} aria-label="Questions">
            <InboxFilters
              search={search}
              counts={counts.data}
              onChange={(next) => change({ ...next, question: null })}
            />
            <Panel
              query={list}
              what="Questions"
              isEmpty={() => held.shown.length === 0 && held.hidden === 0}
              empty={<Empty title="Nothing is asked of you.">A question appears here when a run asks one.</Empty>}
              filters={{ count, onClear: clear }}
            >
              {() => (
                <>
                  <HeldQuestions count={held.hidden} onShow={held.show} />
                  <QuestionList
                    items={held.shown}
                    selected={selected}
                    search={search}
                    onEnd={() => {
                      if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage();
                    }}
                  />
                </>
              )}
            </Panel>
          </section>
        )}
        {(!isPhone || selected !== null) && (
          <section className={classes.right} aria-label="Question">
            {isPhone && (
              <PageLink to="/inbox" search={{ ...search, question: '' }} className={classes.back}>
                <Icon name="left" /> All questions
              </PageLink>
            )}
            {selected === null ? null : (
              <QuestionPane key={selected} questionId={selected} takesFocus={selected === next} onAnswered={openNext} />
            )}
          </section>
        )}
      </div>
    </Page>
  );
}
