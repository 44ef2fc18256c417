// What the person has just done, in a corner: nothing else is shown there.
import { CloseButton } from '@mantine/core';
import { useSyncExternalStore } from 'react';
import { RequestId } from '../design/panel.tsx';
import { dismissToast, subscribeToToasts, toasts } from './toast-list.ts';
import classes from './toasts.module.css';

export function Toasts() {
  const shown = useSyncExternalStore(subscribeToToasts, toasts);
  return (
    <div className={classes.toasts} role="status" aria-live="polite">
      {shown.map(({ id, text, action, error }) => (
        <div key={id} className={classes.toast} data-failed={error !== undefined}>
          <div>
            {text}
            {error === undefined ? null : <RequestId error={error} />}
          </div>
          {action}
          <CloseButton size="sm" aria-label="Dismiss" onClick={() => dismissToast(id)} />
        </div>
      ))}
    </div>
  );
}
