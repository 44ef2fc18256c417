// The sidebar: the organization, the pages, and the person.
import { lazy, Suspense } from 'react';
import { Icon } from '../design/icons.tsx';
import { InboxCount } from './inbox-count.tsx';
import { NAVIGATION, type NavigationItem, SETTINGS } from './navigation.ts';
import { PageLink } from './page-link.tsx';
import classes from './sidebar.module.css';

// Menus come after the page: nothing in them is needed to read it.
const OrganizationMenu = lazy(async () => ({ default: (await import('./organization-menu.tsx')).OrganizationMenu }));
const PersonMenu = lazy(async () => ({ default: (await import('./person-menu.tsx')).PersonMenu }));

interface SidebarProps {
  readonly isNarrow: boolean;
  readonly onToggle: () => void;
  readonly onSearch: () => void;
  readonly onHelp: () => void;
}

export function Sidebar({ isNarrow, onToggle, onSearch, onHelp }: SidebarProps) {
  return (
    <div className={classes.sidebar} data-narrow={isNarrow}>
      <div className={classes.top}>
        <Suspense fallback={<div className={classes.menu} />}>
          <OrganizationMenu isNarrow={isNarrow} />
        </Suspense>
        {!isNarrow && <ToggleButton isNarrow={false} onToggle={onToggle} />}
      </div>
      <button type="button" className={classes.search} onClick={onSearch} aria-label="Find a page, a method or a run">
        <Icon name="search" />
        {!isNarrow && (
          <>
            <span>Find</span>
            <kbd>{/Mac|iPhone|iPad/.test(navigator.platform) ? '⌘ K' : 'Ctrl K'}</kbd>
          </>
        )}
      </button>
      <nav aria-label="Pages" className={classes.pages}>
        {NAVIGATION.map((item) => (
          <Item key={item.to} item={item} isNarrow={isNarrow} />
        ))}
        <div className={classes.line} />
        <Item item={SETTINGS} isNarrow={isNarrow} />
      </nav>
      <div className={classes.foot}>
        {isNarrow && <ToggleButton isNarrow onToggle={onToggle} />}
        <Suspense fallback={<div className={classes.menu} />}>
          <PersonMenu isNarrow={isNarrow} onHelp={onHelp} />
        </Suspense>
      </div>
    </div>
  );
}

function ToggleButton({ isNarrow, onToggle }: { readonly isNarrow: boolean; readonly onToggle: () => void }) {
  const label = isNarrow ? 'Open the sidebar' : 'Close the sidebar';
  return (
    <button type="button" className={classes.toggle} aria-label={label} title={label} onClick={onToggle}>
      <Icon name="panel" />
    </button>
  );
}

function Item({ item, isNarrow }: { readonly item: NavigationItem; readonly isNarrow: boolean }) {
  const { to, title, icon } = item;
  return (
    <PageLink
      to={to}
      className={classes.item}
      aria-label={isNarrow ? title : undefined}
      title={isNarrow ? title : undefined}
      isExact={to === '/' ? 'path' : false}
      {...({ activeProps: { 'data-here': true } } as object)}
    >
      <Icon name={icon} />
      {!isNarrow && <span className={classes.word}>{title}</span>}
      {to === '/inbox' && <InboxCount isNarrow={isNarrow} />}
    </PageLink>
  );
}
