// Methods: all methods of the organization.
import { Page } from '../../design/page.tsx';

export function MethodsPage() {
  return <Page title="Methods">{null}</Page>;
}
