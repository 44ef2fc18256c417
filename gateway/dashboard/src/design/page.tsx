// The head of a page: where it is, its title, its one primary action, and its content below.
import { type ReactNode, useEffect } from 'react';
import { PageLink } from '../frame/page-link.tsx';
import classes from './page.module.css';

interface PageProps {
  readonly title: string;
  /** Shown in place of the title, which then names the tab only. */
  readonly heading?: ReactNode;
  /** The pages above this one, with their paths below the organization. */
  readonly above?: readonly { readonly title: ReactNode; readonly to: string }[];
  readonly action?: ReactNode;
  readonly children: ReactNode;
}

export function Page({ title, heading, above = [], action, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Methods`;
  }, [title]);
  return (
    <div className={classes.page}>
      <header className={classes.head}>
        <div className={classes.where}>
          {above.length > 0 && (
            <nav aria-label="Above this page" className={classes.above}>
              {above.map((each) => (
                <span key={each.to}>
                  <PageLink to={each.to}>{each.title}</PageLink>
                  <span aria-hidden="true">/</span>
                </span>
              ))}
            </nav>
          )}
          <h1 className={classes.title}>{heading ?? title}</h1>
        </div>
        {action !== undefined && <div className={classes.action}>{action}</div>}
      </header>
      {children}
    </div>
  );
}
