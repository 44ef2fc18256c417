// Workers: who is connected, and which queues wait.
import { Page } from '../../design/page.tsx';

export function WorkersPage() {
  return <Page title="Workers">{null}</Page>;
}
