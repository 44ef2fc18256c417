// Questions that were asked since the list was opened: they wait behind their number, so that nothing moves while a
// person reads.
import { Button } from '@mantine/core';
import { useEffect, useState } from 'react';
import classes from '../../question/question.module.css';
import type { InboxItem } from '../../question/questions.ts';

interface HeldBack {
  readonly shown: readonly InboxItem[];
  readonly hidden: number;
  readonly show: () => void;
}

/** `listKey`: another list begins again. The selected question is always shown. */
export function useHeldBack(items: readonly InboxItem[], listKey: string, selected: string | null): HeldBack {
  const [since, setSince] = useState<{ readonly listKey: string; readonly asked: string } | null>(null);
  const newest =
    items
      .map(({ asked_at }) => asked_at ?? '')
      .sort()
      .at(-1) ?? '';
  useEffect(() => {
    // An empty list has nothing that could move.
    if (since?.listKey !== listKey || (since.asked === '' && newest !== '')) setSince({ listKey, asked: newest });
  }, [since, listKey, newest]);
  const limit = since?.listKey === listKey && since.asked !== '' ? since.asked : null;
  const isShown = ({ id, asked_at }: InboxItem) => limit === null || (asked_at ?? '') <= limit || id === selected;
  const shown = items.filter(isShown);
  return {
    shown: shown.length === 0 ? items : shown,
    hidden: shown.length === 0 ? 0 : items.length - shown.length,
    show: () => setSince({ listKey, asked: newest }),
  };
}

export function HeldQuestions({ count, onShow }: { readonly count: number; readonly onShow: () => void }) {
  return (
    <div role="status" className={classes.held} data-empty={count === 0}>
      {count > 0 && (
        <Button variant="light" size="compact-sm" fullWidth onClick={onShow}>
          {count === 1 ? '1 new question' : `${count} new questions`}
        </Button>
      )}
    </div>
  );
}
