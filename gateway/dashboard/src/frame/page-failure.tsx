// A page that could not be drawn: its part is missing, as after a deployment, or it has a fault.
import { Button } from '@mantine/core';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { Empty } from '../design/empty.tsx';

export function PageFailure({ error, reset }: ErrorComponentProps) {
  const message = error instanceof Error ? error.message : String(error);
  const isMissing = /dynamically imported module|Importing a module script|Unable to preload/.test(message);
  return (
    <div role="alert">
      <Empty title={isMissing ? 'The dashboard was updated' : 'This page has failed'}>
        <p>{isMissing ? 'Reload to continue with the new one.' : message.slice(0, 500)}</p>
        <Button variant="default" onClick={() => (isMissing ? window.location.reload() : reset())}>
          {isMissing ? 'Reload' : 'Try again'}
        </Button>
      </Empty>
    </div>
  );
}
