// A page that could not be drawn: its part is missing, as after a deployment, or it has a fault.
import { Button } from '@mantine/core';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { Page } from '../design/page.tsx';
import { isMissingPart } from './part.ts';

export function PageFailure({ error, reset }: ErrorComponentProps) {
  const isMissing = isMissingPart(error);
  const message = error instanceof Error ? error.message : String(error);
  return (
    <Page title={isMissing ? 'The dashboard was updated' : 'This page has failed'}>
      <div role="alert">
        <p>{isMissing ? 'Reload to continue with the new one.' : message.slice(0, 500)}</p>
        <Button variant="default" onClick={() => (isMissing ? window.location.reload() : reset())}>
          {isMissing ? 'Reload' : 'Try again'}
        </Button>
      </div>
    </Page>
  );
}
