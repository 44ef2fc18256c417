// A page with nothing but a few words in its middle: before there is a viewer, and when nothing else can be shown.
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { isFailure } from '../api/failure.ts';
import { Mark } from '../frame/mark.tsx';
import classes from './whole-page.module.css';

interface WholePageProps {
  readonly title?: string;
  readonly children?: ReactNode;
  readonly failure?: unknown;
  readonly onAgain?: () => void;
}

export function WholePage({ title, children, failure, onAgain }: WholePageProps) {
  const requestId = isFailure(failure) ? failure.requestId : null;
  const isEmpty = title === undefined && !failure;
  return (
    <main className={classes.page} aria-busy={isEmpty}>
      <div className={classes.box}>
        <Mark />
        {title !== undefined && <h1 className={classes.title}>{title}</h1>}
        {failure ? (
          <div role="alert">
            <h1 className={classes.title}>The dashboard could not be loaded</h1>
            <p>{failure instanceof Error ? failure.message : String(failure)}</p>
            {onAgain !== undefined && (
              <Button variant="default" onClick={onAgain}>
                Try again
              </Button>
            )}
            {requestId !== null && <p className={classes.quiet}>Request {requestId}</p>}
          </div>
        ) : null}
        {children}
      </div>
    </main>
  );
}
