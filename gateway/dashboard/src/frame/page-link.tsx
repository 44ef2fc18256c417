// A link to a page of the same organization. A list has hundreds of them, so each is no more than an anchor: it watches
// nothing of the router.
import { useRouter } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, MouseEvent, Ref } from 'react';
import { type Search, stringifySearch } from '../address/search.ts';
import { pathOf } from '../api/client.ts';
import { useApi } from '../api/use-api.ts';

interface PageLinkProps extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href'> {
  /** Its path below the organization, like `/runs/run_…`; `/` is Production. */
  readonly to: string;
  readonly search?: Search;
  readonly ref?: Ref<HTMLAnchorElement>;
}

export function PageLink({ to, search = {}, onClick, children, ...rest }: PageLinkProps) {
  const { org } = useApi();
  const router = useRouter();
  // The router's own type of addresses knows paths with parameters, not the ones made of them.
  const target = { to: pathOf(org) + to, search } as { to: '.' };
  const preload = () => void router.preloadRoute(target).catch(() => {});
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    // The browser opens it elsewhere.
    const isElsewhere = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button !== 0;
    if (event.defaultPrevented || isElsewhere || (rest.target ?? '_self') !== '_self') return;
    event.preventDefault();
    void router.navigate(target);
  };
  return (
    <a
      {...rest}
      href={target.to + stringifySearch(search)}
      onClick={follow}
      onPointerDown={preload}
      onMouseEnter={preload}
      onFocus={preload}
    >
      {children}
    </a>
  );
}
