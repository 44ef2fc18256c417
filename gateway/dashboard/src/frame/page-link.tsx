// A link to a page of the same organization.
import { Link } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, ReactNode, Ref } from 'react';
import type { Search } from '../address/search.ts';
import { pathOf } from '../api/client.ts';
import { useApi } from '../api/use-api.ts';

interface PageLinkProps extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href'> {
  /** Its path below the organization, like `/runs/run_…`; `/` is Production. */
  readonly to: string;
  readonly search?: Search;
  /** It is the present page only at its own address, not at those below; `path`: with any query. */
  readonly isExact?: boolean | 'path';
  readonly children?: ReactNode;
  readonly ref?: Ref<HTMLAnchorElement>;
}

export function PageLink({ to, search = {}, isExact = false, ...rest }: PageLinkProps) {
  const { org } = useApi();
  // The router's own type of addresses knows paths with parameters, not the ones made of them.
  const activeOptions = { exact: isExact !== false, includeSearch: isExact !== 'path' };
  const target = { ...rest, to: pathOf(org) + to, search, activeOptions } as unknown as { to: '.' };
  return <Link {...target} />;
}
