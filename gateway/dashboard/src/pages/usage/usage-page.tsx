// Usage: runs and times by method and day.
import { Page } from '../../design/page.tsx';

export function UsagePage() {
  return <Page title="Usage">{null}</Page>;
}
