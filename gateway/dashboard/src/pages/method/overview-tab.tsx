// Overview: what the method takes and gives, what it needs of workers, and a form that starts a run of it.
import { isJsonList, isJsonObject, type JsonObject, type JsonSchema } from '@methods/method/json';
import { useQuery } from '@tanstack/react-query';
import { got } from '../../api/client.ts';
import { type SourceVersion, useVersion, type WholeMethod } from '../../api/method-reads.ts';
import { useApi } from '../../api/use-api.ts';
import { Command } from '../../design/command.tsx';
import { Empty } from '../../design/empty.tsx';
import { HostileText } from '../../design/hostile-text.tsx';
import { Panel } from '../../design/panel.tsx';
import { PageLink } from '../../frame/page-link.tsx';
import { useMay } from '../../session/viewer.tsx';
import classes from './method.module.css';
import type { MethodTabProps } from './method-page.tsx';
import { TestRunForm } from './test-run-form.tsx';

export function OverviewTab({ method }: MethodTabProps) {
  const versionId = method.published_version ?? method.current_version;
  const version = useVersion(method.id, versionId);
  if (versionId === null) {
    return method.status === 'ready' ? (
      <Empty title="The method has no source yet.">
        <p>Write one on the page “Source”, or let an agent work by its prompt.</p>
        <PageLink to={`/methods/${method.id}/source`}>Write the source</PageLink>
      </Empty>
    ) : (
      <Empty
        title={
          method.status === 'building' ? 'The recording is being compiled.' : 'The recording could not be compiled.'
        }
      >
        <PageLink to={`/methods/${method.id}/recording`}>See the recording</PageLink>
      </Empty>
    );
  }
  return (
    <Panel query={version} what="Version">
      {(data) => <Overview method={method} version={data} />}
    </Panel>
  );
}

function Overview({ method, version }: { readonly method: WholeMethod; readonly version: SourceVersion }) {
  const mayStart = useMay('member');
  const description = descriptionOf(version.source);
  const isOld = version.schema_version === 'workflow/1';
  return (
    <div className={classes.overview}>
      <div className={classes.facets}>
        {description !== '' && (
          <div className={classes.description}>
            <HostileText text={description} max={4_000} lines />
          </div>
        )}
        <Fields
          title="Inputs"
          schema={version.inputs}
          none={isOld ? 'A workflow/1 source does not describe its inputs.' : 'It takes no inputs.'}
        />
        <Fields title="Result" schema={version.result_schema} none="It gives no values." />
        <Coverage method={method} version={version} />
      </div>
      <section className={classes.start} aria-labelledby="start-a-run">
        <h2 id="start-a-run">Start a run</h2>
        {isOld ? (
          <p>A workflow/1 method cannot start. Upgrade it on the page “Source” and save it as a new version.</p>
        ) : !mayStart ? (
          <p>Only members and admins start runs.</p>
        ) : (
          <TestRunForm method={method} version={version} />
        )}
      </section>
    </div>
  );
}

function Fields({ title, schema, none }: { title: string; schema: object | undefined; none: string }) {
  const properties = isJsonObject(schema as JsonObject) ? (schema as JsonObject).properties : undefined;
  const rows = properties !== undefined && isJsonObject(properties) ? Object.entries(properties) : [];
  const required = new Set(
    isJsonList((schema as JsonObject | undefined)?.required ?? null)
      ? ((schema as JsonObject).required as string[])
      : [],
  );
  return (
    <section>
      <h2>{title}</h2>
      {rows.length === 0 ? (
        <p className={classes.quiet}>{none}</p>
      ) : (
        <table className={classes.fields}>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Type</th>
              <th scope="col">Description</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([name, field]) => (
              <tr key={name}>
                <td>
                  <code>
                    <HostileText text={name} max={100} />
                  </code>
                  {!required.has(name) && <span className={classes.quiet}> optional</span>}
                </td>
                <td>{typeWords(field as JsonSchema)}</td>
                <td>
                  <HostileText text={textOf(field as JsonSchema, 'description')} max={500} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

/** What workers need for it, and whether one is there. */
function Coverage({ method, version }: { readonly method: WholeMethod; readonly version: SourceVersion }) {
  const { org, api } = useApi();
  const workers = useQuery({
    queryKey: [org, 'workers'],
    queryFn: ({ signal }) => got(api.GET('/api/workers', { signal })),
    staleTime: 15_000,
  });
  const able = workers.data?.items.filter(
    ({ methods, features }) =>
      (methods.length === 0 || methods.includes(method.production_id)) &&
      version.features.every((each) => features.includes(each)),
  );
  return (
    <section>
      <h2>Workers</h2>
      {able === undefined ? null : able.length === 0 ? (
        <>
          <p>No connected worker runs it. Start one:</p>
          <Command text={`npx methods worker --method ${method.production_id}`} />
        </>
      ) : (
        <p>
          <PageLink to="/workers">
            {able.length === 1 ? 'One worker runs it' : `${able.length} workers run it`}
          </PageLink>
          .
        </p>
      )}
      {version.secrets.length > 0 && (
        <p>
          Its workers’ environment needs{' '}
          {version.secrets.map((name) => (
            <code key={name} className={classes.chip}>
              {name}
            </code>
          ))}
        </p>
      )}
      {version.features.length > 0 && <p className={classes.quiet}>Uses {version.features.join(', ')}.</p>}
    </section>
  );
}

function typeWords(schema: JsonSchema): string {
  if (isJsonList(schema.enum ?? null)) return (schema.enum as unknown[]).map(String).join(' | ').slice(0, 200);
  const type = isJsonList(schema.type ?? null)
    ? (schema.type as string[]).join(' or ')
    : typeof schema.type === 'string'
      ? schema.type
      : 'any';
  const format = textOf(schema, 'format');
  if (textOf(schema, 'x-type') === 'file') return 'file';
  return format === '' ? type : `${format}`;
}

function textOf(schema: JsonSchema, keyword: string): string {
  const value = schema[keyword];
  return typeof value === 'string' ? value : '';
}

/** The text at the top of the source; a description in a block is read to its end. */
function descriptionOf(source: string): string {
  const found = /^description:[ \t]*(?:[|>][-+]?[ \t]*\r?\n((?:[ \t]+.*\r?\n?|\r?\n)+)|(.+))$/m.exec(
    source.slice(0, 64 * 1024),
  );
  const text = found?.[1] ?? found?.[2] ?? '';
  return text
    .replace(/^[ \t]+/gm, '')
    .replace(/^(["'])(.*)\1$/, '$2')
    .trim();
}
