// Inbox: the questions that wait for an answer.
import { Page } from '../../design/page.tsx';

export function InboxPage() {
  return <Page title="Inbox">{null}</Page>;
}
