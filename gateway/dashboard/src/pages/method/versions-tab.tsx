// Versions: who saved what, when and why; publishing one, going back to one, and comparing any two.
import { Button, NativeSelect } from '@mantine/core';
import { Suspense, useState } from 'react';
import { got } from '../../api/client.ts';
import { shortVersion, useMethodChanged, useVersion, useVersions, type Version } from '../../api/method-reads.ts';
import { useApi } from '../../api/use-api.ts';
import { ConfirmInNumbers } from '../../design/confirm-in-numbers.tsx';
import { Empty } from '../../design/empty.tsx';
import { HostileText } from '../../design/hostile-text.tsx';
import { Panel } from '../../design/panel.tsx';
import { Skeleton } from '../../design/skeleton.tsx';
import { useSearchState } from '../../frame/navigate.ts';
import { PageLink } from '../../frame/page-link.tsx';
import { part } from '../../frame/part.ts';
import { showToast } from '../../frame/toast-list.ts';
import { useMay } from '../../session/viewer.tsx';
import { Time } from '../../time/time.tsx';
import classes from './method.module.css';
import type { MethodTabProps } from './method-page.tsx';

const ComparedSources = part(async () => (await import('../../editor/compared-sources.tsx')).ComparedSources);

export function VersionsTab({ method }: MethodTabProps) {
  const { api } = useApi();
  const changed = useMethodChanged();
  const mayPublish = useMay('member');
  const [search, change] = useSearchState();
  const versions = useVersions(method.id);
  const [asked, setAsked] = useState<Version | null>(null);
  const all = versions.data?.pages.flatMap(({ items }) => items) ?? [];
  const publishedAt = all.find(({ version_id }) => version_id === method.published_version)?.created_at ?? null;
  const isOlder = ({ created_at }: Version) => publishedAt !== null && (created_at ?? '') < publishedAt;
  const { left, right } = search;
  const act = asked !== null && isOlder(asked) ? 'Roll back' : 'Publish';
  return (
    <Panel
      query={versions}
      what="Versions"
      isEmpty={() => all.length === 0}
      empty={<Empty title="No version is saved yet." />}
    >
      {() => (
        <>
          <Compare method={method} versions={all} left={left ?? null} right={right ?? null} onChange={change} />
          <ol className={classes.versions}>
            {all.map((version) => (
              <li key={version.version_id} data-published={version.version_id === method.published_version}>
                <div className={classes.version}>
                  <span className={classes.versionHead}>
                    <PageLink to={`/methods/${method.id}/source`} search={{ version: version.version_id }}>
                      <code>{shortVersion(version.version_id)}</code>
                    </PageLink>
                    {version.version_id === method.published_version && <span className={classes.chip}>Published</span>}
                    {version.version_id === method.current_version && <span className={classes.chip}>Newest</span>}
                  </span>
                  <span className={classes.reason}>
                    {version.reason === '' ? (
                      <span className={classes.quiet}>No reason was given.</span>
                    ) : (
                      <HostileText text={version.reason} max={600} lines />
                    )}
                  </span>
                  <span className={classes.quiet}>
                    Saved by <bdi>{version.created_by.name || version.created_by.id}</bdi>,{' '}
                    <Time at={version.created_at} />
                    {version.published_at !== null && (
                      <>
                        . Published by <bdi>{version.published_by?.name || version.published_by?.id || 'someone'}</bdi>,{' '}
                        <Time at={version.published_at} />
                      </>
                    )}
                  </span>
                </div>
                <div className={classes.versionActs}>
                  <PageLink to="/" search={{ method: method.production_id, version: version.version_id }}>
                    Its runs
                  </PageLink>
                  {method.published_version !== null && version.version_id !== method.published_version && (
                    <Button
                      variant="subtle"
                      size="compact-sm"
                      onClick={() => change({ left: method.published_version, right: version.version_id })}
                    >
                      Compare with the published one
                    </Button>
                  )}
                  {mayPublish && version.version_id !== method.published_version && (
                    <Button variant="default" size="compact-sm" onClick={() => setAsked(version)}>
                      {isOlder(version) ? 'Roll back to it' : 'Publish'}
                    </Button>
                  )}
                </div>
              </li>
            ))}
          </ol>
          {versions.hasNextPage && (
            <Button
              variant="default"
              loading={versions.isFetchingNextPage}
              onClick={() => void versions.fetchNextPage()}
            >
              Older versions
            </Button>
          )}
          <ConfirmInNumbers
            isOpen={asked !== null}
            onClose={() => setAsked(null)}
            isDangerous={false}
            act={act}
            onConfirm={async () => {
              if (asked === null) return;
              const { version_id } = asked;
              await got(
                api.POST('/api/methods/{id}/publish', { params: { path: { id: method.id } }, body: { version_id } }),
              );
              await changed();
              showToast({ text: `${act === 'Publish' ? 'Published' : 'Rolled back to'} ${shortVersion(version_id)}.` });
            }}
          >
            {asked !== null && (
              <p>
                Runs that start from now on, and name no version, get {shortVersion(asked.version_id)}. Runs that have
                started stay on their version.
              </p>
            )}
          </ConfirmInNumbers>
        </>
      )}
    </Panel>
  );
}

interface CompareProps extends MethodTabProps {
  readonly versions: readonly Version[];
  readonly left: string | null;
  readonly right: string | null;
  readonly onChange: (change: Readonly<Record<string, string | null>>) => void;
}

function Compare({ method, versions, left, right, onChange }: CompareProps) {
  const a = useVersion(method.id, left);
  const b = useVersion(method.id, right);
  if (versions.length < 2 && left === null) return null;
  const data = [
    { value: '', label: 'Choose…' },
    ...versions.map(({ version_id, reason }) => ({
      value: version_id,
      label: `${shortVersion(version_id)}${version_id === method.published_version ? ' (published)' : ''} ${reason.slice(0, 60)}`,
    })),
  ];
  return (
    <section className={classes.compare} aria-label="Compare two versions">
      <div className={classes.compareHead}>
        <NativeSelect
          label="Compare"
          size="xs"
          data={data}
          value={left ?? ''}
          onChange={(event) => onChange({ left: event.currentTarget.value || null })}
        />
        <NativeSelect
          label="with"
          size="xs"
          data={data}
          value={right ?? ''}
          onChange={(event) => onChange({ right: event.currentTarget.value || null })}
        />
        {left !== null && right !== null && (
          <Button variant="subtle" size="xs" onClick={() => onChange({ left: null, right: null })}>
            Close
          </Button>
        )}
      </div>
      {left !== null && right !== null && (
        <Panel query={a} what="Version">
          {(first) => (
            <Panel query={b} what="Version">
              {(second) => (
                <Suspense fallback={<Skeleton rows={6} what="Comparison" />}>
                  {first.sha256 === second.sha256 && <p className={classes.quiet}>Both have the same text.</p>}
                  <ComparedSources
                    left={{ text: first.source, label: `Source of ${shortVersion(first.version_id)}` }}
                    right={{ text: second.source, label: `Source of ${shortVersion(second.version_id)}` }}
                  />
                </Suspense>
              )}
            </Panel>
          )}
        </Panel>
      )}
    </section>
  );
}
