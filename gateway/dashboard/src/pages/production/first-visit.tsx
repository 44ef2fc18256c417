// The page of an organization without runs: four steps to the first finished one, each ticked when it happens.
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { apiOf, got } from '../../api/client.ts';
import { useMethods } from '../../api/method-names.ts';
import { startCommand } from '../../api/start-command.ts';
import { useApi } from '../../api/use-api.ts';
import { Command } from '../../design/command.tsx';
import { HostileText } from '../../design/hostile-text.tsx';
import { Icon } from '../../design/icons.tsx';
import { PageLink } from '../../frame/page-link.tsx';
import { useMay } from '../../session/viewer.tsx';
import classes from './first-visit.module.css';

export function FirstVisit() {
  const { org, api } = useApi();
  const isAdmin = useMay('admin');
  const steps = useQuery({
    queryKey: [org, 'first-steps'],
    queryFn: ({ signal }) => got(api.GET('/api/first-steps', { signal })),
    meta: { staleOn: ['run', 'method', 'build', 'key', 'workers'] },
  });
  const server = useQuery({ queryKey: ['server'], queryFn: () => got(apiOf(null).GET('/.well-known/methods')) });
  const url = server.data?.base_url ?? window.location.origin;
  const done = steps.data;
  const published = useMethods().data?.find(({ published_version: version }) => version !== null);
  return (
    <section className={classes.visit}>
      <p className={classes.intro}>
        No runs yet. Four steps lead to the first one; each is ticked when it has happened.
      </p>
      <ol className={classes.steps}>
        <Step title="Save a method" isDone={done?.method_saved}>
          <p>Sign in from a terminal, write an example, and save it.</p>
          <Command
            text={`npx methods login --server ${url}\nnpx methods new hello\nnpx methods save hello.method\nnpx methods publish hello.method`}
          />
          <p>
            Or make one in the browser: <PageLink to="/methods">Methods</PageLink>.
          </p>
        </Step>
        <Step title="Make a service key" isDone={done?.key_made}>
          {isAdmin ? (
            <>
              <p>
                With it, your application starts runs and workers connect. It is made on your machine and shown once.
              </p>
              <Command text="npx methods keys create --name first-app" />
              <p>
                Or in the browser: <PageLink to="/settings">Settings</PageLink>.
              </p>
            </>
          ) : (
            <p>Only admins make keys. Ask one of your organization.</p>
          )}
        </Step>
        <Step title="Start a worker" isDone={done?.worker_connected}>
          <p>Runs are executed where you start it: on your laptop or on your servers.</p>
          <Command
            text={
              published === undefined
                ? 'export SERVICE_API_KEY=sk_…\nnpx methods worker --method hello.method'
                : startCommand(url, published.production_id)
            }
          />
        </Step>
        <Step title="Finish the first run" isDone={done?.run_finished}>
          <p>Start it from your application, or by hand:</p>
          <Command
            text={`curl '${url}/v1/runs?wait_ms=10000' -H "authorization: Bearer $SERVICE_API_KEY" \\\n  -H 'content-type: application/json' -d '{"method": "${published?.production_id ?? 'wf_…'}", "inputs": {}}'`}
          />
          {published !== undefined && (
            <p>
              Or in the browser:{' '}
              <PageLink to={`/methods/${published.id}`}>
                <HostileText text={published.display_name} max={80} />
              </PageLink>
              .
            </p>
          )}
        </Step>
      </ol>
    </section>
  );
}

interface StepProps {
  readonly title: string;
  /** Undefined: not known yet. */
  readonly isDone: boolean | undefined;
  readonly children: ReactNode;
}

function Step({ title, isDone = false, children }: StepProps) {
  return (
    <li className={classes.step} data-done={isDone}>
      <span className={classes.mark}>
        {isDone && <Icon name="check" size={14} />}
        <span className="unseen">{isDone ? 'Done' : 'To do'}</span>
      </span>
      <div className={classes.content}>
        <h2>{title}</h2>
        {!isDone && children}
      </div>
    </li>
  );
}
