// An empty page or panel: what it would show, and how to fill it.
import type { ReactNode } from 'react';
import classes from './empty.module.css';

export function Empty({ title, children }: { readonly title: ReactNode; readonly children?: ReactNode }) {
  return (
    <div className={classes.empty}>
      <p className={classes.title}>{title}</p>
      {children}
    </div>
  );
}
