// Settings: the organization, its people and its keys.
import { Page } from '../../design/page.tsx';

export function SettingsPage() {
  return <Page title="Settings">{null}</Page>;
}
