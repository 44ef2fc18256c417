// Run: what happened in one run, and why.
import { Page } from '../../design/page.tsx';

export function RunPage() {
  return <Page title="Run">{null}</Page>;
}
