// The sidebar: the organization, the pages, and the person.
import { useRouterState } from '@tanstack/react-router';
import { Suspense } from 'react';
import { pathOf } from '../api/client.ts';
import { useApi } from '../api/use-api.ts';
import { Icon } from '../design/icons.tsx';
import { InboxCount } from './inbox-count.tsx';
import { NAVIGATION, type NavigationItem, SETTINGS } from './navigation.ts';
import { PageLink } from './page-link.tsx';
import { part } from './part.ts';
import classes from './sidebar.module.css';

const OrganizationMenu = part(async () => (await import('./organization-menu.tsx')).OrganizationMenu);
const PersonMenu = part(async () => (await import('./person-menu.tsx')).PersonMenu);

interface SidebarProps {
  readonly isNarrow: boolean;
  /** Menus come after the page: nothing in them is needed to read it. */
  readonly hasMenus: boolean;
  readonly onToggle: () => void;
  readonly onSearch: () => void;
  readonly onHelp: () => void;
}

export function Sidebar({ isNarrow, hasMenus, onToggle, onSearch, onHelp }: SidebarProps) {
  const place = <div className={classes.menu} />;
  return (
    <div className={classes.sidebar} data-narrow={isNarrow}>
      <div className={classes.top}>
        <Suspense fallback={place}>{hasMenus ? <OrganizationMenu isNarrow={isNarrow} /> : place}</Suspense>
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
        <Suspense fallback={place}>{hasMenus ? <PersonMenu isNarrow={isNarrow} onHelp={onHelp} /> : place}</Suspense>
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
  const isHere = useIsHere(to);
  return (
    <PageLink
      to={to}
      className={classes.item}
      aria-label={isNarrow ? title : undefined}
      title={isNarrow ? title : undefined}
      aria-current={isHere ? 'page' : undefined}
      data-here={isHere || undefined}
    >
      <Icon name={icon} />
      {!isNarrow && <span className={classes.word}>{title}</span>}
      {to === '/inbox' && <InboxCount isNarrow={isNarrow} />}
    </PageLink>
  );
}

/** Production has the organization's own address, below which all others are. */
function useIsHere(to: string): boolean {
  const { org } = useApi();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const place = pathOf(org) + to;
  return to === '/' ? path === place || `${path}/` === place : path === place || path.startsWith(`${place}/`);
}
