// Bulk act: the progress of an act on many runs.
import { Page } from '../../design/page.tsx';

export function BulkPage() {
  return <Page title="Bulk act">{null}</Page>;
}
