// Deliveries: each webhook, chat and mail delivery with its tries.
import { Page } from '../../design/page.tsx';

export function DeliveriesPage() {
  return <Page title="Deliveries">{null}</Page>;
}
