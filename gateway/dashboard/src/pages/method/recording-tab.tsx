// Recording: what the method was made from, how its compilation went, and the notes that a person should check.
import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { got } from '../../api/client.ts';
import { useMethodChanged, useVersion, useVersions } from '../../api/method-reads.ts';
import { useApi } from '../../api/use-api.ts';
import { HostileText } from '../../design/hostile-text.tsx';
import { Panel } from '../../design/panel.tsx';
import { PageLink } from '../../frame/page-link.tsx';
import { showFailure } from '../../frame/toast-list.ts';
import { useMay } from '../../session/viewer.tsx';
import { Time } from '../../time/time.tsx';
import classes from './method.module.css';
import type { MethodTabProps } from './method-page.tsx';

export function RecordingTab({ method }: MethodTabProps) {
  const { api } = useApi();
  const mayRetry = useMay('member');
  const changed = useMethodChanged();
  const retry = useMutation({
    mutationFn: () => got(api.POST('/api/methods/{id}/retry', { params: { path: { id: method.id } } })),
    onSuccess: changed,
    onError: (error) => showFailure('Retry', error),
  });
  const { build, status, created_by, created_at } = method;
  return (
    <div className={classes.facets}>
      <p>
        A recording of <bdi>{created_by.name || created_by.id}</bdi>, <Time at={created_at} />.
      </p>
      {status === 'building' && <p role="status">It is being compiled. This page changes by itself.</p>}
      {status === 'failed' && (
        <div className={classes.notice} role="alert">
          <strong>It could not be compiled.</strong> <HostileText text={build?.error ?? ''} max={1_000} />
          {mayRetry && (
            <Button variant="default" size="compact-sm" loading={retry.isPending} onClick={() => retry.mutate()}>
              Try again
            </Button>
          )}
        </div>
      )}
      {status === 'ready' && <Notes {...{ method }} />}
    </div>
  );
}

/** The comments that the compilation put at the top of the first version. */
function Notes({ method }: MethodTabProps) {
  const versions = useVersions(method.id);
  const first = versions.hasNextPage ? null : (versions.data?.pages.at(-1)?.items.at(-1)?.version_id ?? null);
  const version = useVersion(method.id, first);
  if (versions.hasNextPage) return <p>Its notes are at the top of its first version.</p>;
  return (
    <Panel query={version} what="Notes">
      {({ source, version_id }) => {
        const notes = notesOf(source);
        return (
          <section>
            <h2>Notes to check</h2>
            {notes.length === 0 ? (
              <p className={classes.quiet}>The compilation left none.</p>
            ) : (
              <ul>
                {notes.map((note) => (
                  <li key={note}>
                    <HostileText text={note} max={1_000} />
                  </li>
                ))}
              </ul>
            )}
            <PageLink to={`/methods/${method.id}/source`} search={{ version: version_id }}>
              The compiled source
            </PageLink>
          </section>
        );
      }}
    </Panel>
  );
}

const NOTES_MAX = 100;

function notesOf(source: string): string[] {
  const lines = /^(?:#.*\r?\n)+/.exec(source)?.[0].split('\n') ?? [];
  return [...new Set(lines.map((line) => line.replace(/^#\s?/, '').trim()).filter((line) => line !== ''))].slice(
    0,
    NOTES_MAX,
  );
}
