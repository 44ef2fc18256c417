// Method: one method with its tabs.
import { Page } from '../../design/page.tsx';

export function MethodPage() {
  return <Page title="Method">{null}</Page>;
}
