// The frame around every page: the sidebar, what concerns the whole page, and the page itself.
import { useMediaQuery } from '@mantine/hooks';
import { useRouterState } from '@tanstack/react-router';
import { type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { Icon } from '../design/icons.tsx';
import { isSingleKey } from '../keyboard/single-keys.ts';
import classes from './frame.module.css';
import { LiveLine } from './live-line.tsx';
import { Mark } from './mark.tsx';
import { usePageIsRead } from './page-is-read.ts';
import { part } from './part.ts';
import { Sidebar } from './sidebar.tsx';
import { Toasts } from './toasts.tsx';

const KEPT = 'methods-sidebar';
/** Not needed before they are asked for. */
const Palette = part(async () => (await import('./palette.tsx')).Palette);
const Help = part(async () => (await import('./help.tsx')).Help);

export function Frame({ children }: { readonly children: ReactNode }) {
  const isPhone = useMediaQuery('(max-width: 720px)', window.innerWidth <= 720, { getInitialValueInEffect: false });
  const [isOpen, setOpen] = useState(() => localStorage.getItem(KEPT) !== 'closed');
  const [drawer, setDrawer] = useState(false);
  const [palette, setPalette] = useState(false);
  const [help, setHelp] = useState(false);
  const path = useRouterState({ select: (state) => state.location.pathname });
  const main = useRef<HTMLElement>(null);
  const isRead = usePageIsRead();

  useEffect(() => setDrawer(false), [path]);
  useEffect(() => {
    localStorage.setItem(KEPT, isOpen ? 'open' : 'closed');
  }, [isOpen]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        setPalette((open) => !open);
      } else if (event.key === '?' && isSingleKey(event)) {
        setHelp(true);
      } else if (event.key === '/' && isSingleKey(event)) {
        const filter = document.querySelector<HTMLInputElement>('[data-filter]');
        if (filter === null) return;
        event.preventDefault();
        filter.focus();
        filter.select();
      }
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);

  const sidebar = (
    <Sidebar
      isNarrow={!isPhone && !isOpen}
      hasMenus={isRead}
      onToggle={() => (isPhone ? setDrawer(false) : setOpen(!isOpen))}
      onSearch={() => setPalette(true)}
      onHelp={() => setHelp(true)}
    />
  );
  return (
    <div className={classes.frame} data-narrow={!isPhone && !isOpen}>
      <a className={classes.skip} href="#content" onClick={() => main.current?.focus()}>
        Skip to the page
      </a>
      {isPhone ? (
        <>
          <header className={classes.bar}>
            <button
              type="button"
              className={classes.barButton}
              aria-label="Menu"
              aria-expanded={drawer}
              onClick={() => setDrawer(!drawer)}
            >
              <Icon name="panel" />
            </button>
            <Mark size={20} />
            <span className={classes.barSpace} />
            <button
              type="button"
              className={classes.barButton}
              aria-label="Find a page, a method or a run"
              onClick={() => setPalette(true)}
            >
              <Icon name="search" />
            </button>
          </header>
          {drawer && (
            <>
              <button
                type="button"
                className={classes.shade}
                aria-label="Close the menu"
                onClick={() => setDrawer(false)}
              />
              <div className={classes.drawer}>{sidebar}</div>
            </>
          )}
        </>
      ) : (
        <div className={classes.side}>{sidebar}</div>
      )}
      <main id="content" className={classes.main} tabIndex={-1} ref={main}>
        <LiveLine />
        {children}
      </main>
      <Suspense>
        {palette && <Palette onClose={() => setPalette(false)} />}
        {help && <Help onClose={() => setHelp(false)} />}
      </Suspense>
      <Toasts />
    </div>
  );
}
