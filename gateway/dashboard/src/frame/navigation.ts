// The pages of the sidebar, in its order.
import type { IconName } from '../design/icons.tsx';

export interface NavigationItem {
  /** Below the organization. */
  readonly to: string;
  readonly title: string;
  readonly icon: IconName;
}

export const NAVIGATION: readonly NavigationItem[] = [
  { to: '/', title: 'Production', icon: 'production' },
  { to: '/inbox', title: 'Inbox', icon: 'inbox' },
  { to: '/methods', title: 'Methods', icon: 'methods' },
  { to: '/workers', title: 'Workers', icon: 'workers' },
  { to: '/deliveries', title: 'Deliveries', icon: 'deliveries' },
  { to: '/usage', title: 'Usage', icon: 'usage' },
];

export const SETTINGS: NavigationItem = { to: '/settings', title: 'Settings', icon: 'settings' };
