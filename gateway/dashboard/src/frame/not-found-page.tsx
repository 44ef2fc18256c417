// An address without a page.
import { useRouterState } from '@tanstack/react-router';
import { Page } from '../design/page.tsx';

export function NotFoundPage() {
  const path = useRouterState({ select: (state) => state.location.pathname });
  return (
    <Page title="There is no such page">
      <p>
        <bdi>{path.slice(0, 200)}</bdi> is no page of the dashboard. Press Ctrl K to find one.
      </p>
    </Page>
  );
}
