// Ctrl K: finds a page, a method, a run by its id, or an action of the present page.
import { Modal } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { got } from '../api/client.ts';
import { useApi } from '../api/use-api.ts';
import { Icon, type IconName } from '../design/icons.tsx';
import { useActions } from './actions.ts';
import { useGo } from './navigate.ts';
import { NAVIGATION, SETTINGS } from './navigation.ts';
import classes from './palette.module.css';

interface Found {
  readonly key: string;
  readonly group: string;
  readonly icon: IconName;
  readonly text: string;
  readonly more?: string;
  readonly act: () => void;
}

const RUN_ID = /^run_[0-9a-hjkmnp-tv-z]{26}$/;
const METHODS_MAX = 8;

export function Palette({ onClose }: { readonly onClose: () => void }) {
  return (
    <Modal
      opened
      onClose={onClose}
      withCloseButton={false}
      size={560}
      padding={0}
      yOffset="12vh"
      centered={false}
      transitionProps={{ duration: 80 }}
      // The label of the root would name nothing: the dialog is inside.
      attributes={{ content: { 'aria-label': 'Find' } }}
    >
      <Search onClose={onClose} />
    </Modal>
  );
}

function Search({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const found = useFound(text.trim());
  const chosen = Math.min(at, Math.max(0, found.length - 1));

  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  });

  const take = (each: Found | undefined) => {
    if (each === undefined) return;
    onClose();
    each.act();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0 && found.length > 0) setAt((chosen + step + found.length) % found.length);
    else if (event.key === 'Enter' && !event.nativeEvent.isComposing) take(found[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <div className={classes.field}>
        <Icon name="search" />
        <input
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
          placeholder="Find a page, a method, a run by its id, an action"
          aria-label="Find a page, a method, a run by its id, an action"
          role="combobox"
          aria-expanded
          aria-controls={`${id}-list`}
          aria-activedescendant={found.length === 0 ? undefined : `${id}-${chosen}`}
          maxLength={200}
          data-autofocus
        />
      </div>
      <div className={classes.list} id={`${id}-list`} role="listbox" aria-label="Found" ref={list}>
        {found.map((each, index) => (
          <div key={each.key}>
            {each.group !== found[index - 1]?.group && (
              <div className={classes.group} role="presentation">
                {each.group}
              </div>
            )}
            <div
              id={`${id}-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === chosen}
              className={classes.option}
              onClick={() => take(each)}
              onMouseMove={() => setAt(index)}
            >
              <Icon name={each.icon} />
              <bdi className={classes.text}>{each.text}</bdi>
              {each.more !== undefined && <span className={classes.more}>{each.more}</span>}
            </div>
          </div>
        ))}
        {found.length === 0 && <p className={classes.none}>Nothing is called so.</p>}
      </div>
    </>
  );
}

function useFound(text: string): Found[] {
  const { org, api } = useApi();
  const go = useGo();
  const actions = useActions();
  const [typed] = useDebouncedValue(text, 120);
  const methods = useQuery({
    queryKey: [org, 'methods', 'named', typed],
    queryFn: ({ signal }) =>
      got(api.GET('/api/methods', { params: { query: { q: typed, limit: METHODS_MAX } }, signal })),
    enabled: typed !== '' && typed.length <= 200 && !RUN_ID.test(typed),
    placeholderData: (before) => (text === '' ? undefined : before),
  });
  const words = text.toLowerCase();
  const has = (title: string) => title.toLowerCase().includes(words);
  const pages = [...NAVIGATION, SETTINGS].map(({ to, title, icon }) => {
    return { key: `page ${to}`, group: 'Pages', icon, text: title, act: () => go(to) };
  });
  const run = RUN_ID.test(text)
    ? [{ key: 'run', group: 'Run', icon: 'production' as const, text, act: () => go(`/runs/${text}`) }]
    : [];
  const named = text === '' ? [] : (methods.data?.items ?? []);
  return [
    ...run,
    ...actions
      .filter(({ title }) => has(title))
      .map(({ title, act }) => ({
        key: `act ${title}`,
        group: 'On this page',
        icon: 'right' as const,
        text: title,
        act,
      })),
    ...pages.filter((page) => has(page.text)),
    ...named.map((method) => ({
      key: method.id,
      group: 'Methods',
      icon: 'methods' as const,
      text: method.display_name,
      more: method.production_id,
      act: () => go(`/methods/${method.id}`),
    })),
  ];
}
