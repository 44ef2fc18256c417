// The sidebar: the organization, the pages, and the person.
import { Tooltip } from '@mantine/core';
import { Icon } from '../design/icons.tsx';
import { InboxCount } from './inbox-count.tsx';
import { NAVIGATION, type NavigationItem, SETTINGS } from './navigation.ts';
import { OrganizationMenu } from './organization-menu.tsx';
import { PageLink } from './page-link.tsx';
import { PersonMenu } from './person-menu.tsx';
import classes from './sidebar.module.css';

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
        <OrganizationMenu isNarrow={isNarrow} />
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
        <PersonMenu isNarrow={isNarrow} onHelp={onHelp} />
      </div>
    </div>
  );
}

function ToggleButton({ isNarrow, onToggle }: { readonly isNarrow: boolean; readonly onToggle: () => void }) {
  const label = isNarrow ? 'Open the sidebar' : 'Close the sidebar';
  return (
    <Tooltip label={label} position="right">
      <button type="button" className={classes.toggle} aria-label={label} onClick={onToggle}>
        <Icon name="panel" />
      </button>
    </Tooltip>
  );
}

function Item({ item, isNarrow }: { readonly item: NavigationItem; readonly isNarrow: boolean }) {
  const { to, title, icon } = item;
  const link = (
    <PageLink
      to={to}
      className={classes.item}
      aria-label={isNarrow ? title : undefined}
      {...({
        activeOptions: { exact: to === '/', includeSearch: false },
        activeProps: { 'data-here': true },
      } as object)}
    >
      <Icon name={icon} />
      {!isNarrow && <span className={classes.word}>{title}</span>}
      {to === '/inbox' && <InboxCount isNarrow={isNarrow} />}
    </PageLink>
  );
  return isNarrow ? (
    <Tooltip label={title} position="right">
      {link}
    </Tooltip>
  ) : (
    link
  );
}
