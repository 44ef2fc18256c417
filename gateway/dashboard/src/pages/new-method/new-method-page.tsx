// New method: four ways to begin. Three of them end in a source that is checked and saved; a recording is compiled by
// the server.
import { Empty } from '../../design/empty.tsx';
import { Page } from '../../design/page.tsx';
import { useSearchState } from '../../frame/navigate.ts';
import { PageLink } from '../../frame/page-link.tsx';
import { useMay } from '../../session/viewer.tsx';
import { Examples, exampleSource } from './examples.tsx';
import classes from './new-method.module.css';
import { NewSource } from './new-source.tsx';
import { UploadRecording } from './upload-recording.tsx';

const WAYS = [
  { id: 'blank', title: 'Blank' },
  { id: 'example', title: 'From an example' },
  { id: 'recording', title: 'From a recording' },
  { id: 'paste', title: 'Paste a source' },
] as const;

const BLANK = `format: method/2
name: my-method
inputs:
  name: string 1..100
steps:
  - name: greet
    in: [inputs.name]
    node: |
      return { text: \`Hello \${name}\` }
    out: { text: string }
result: { text: =steps.greet.text }
`;

export function NewMethodPage() {
  const mayWrite = useMay('member');
  const [search] = useSearchState();
  const way = search.from ?? 'blank';
  const example = search.example ?? null;
  return (
    <Page title="New method" above={[{ title: 'Methods', to: '/methods' }]}>
      {mayWrite ? (
        <>
          <nav className={classes.ways} aria-label="Ways to begin">
            {WAYS.map(({ id, title }) => (
              <PageLink key={id} to="/methods/new" search={{ from: id }} aria-current={id === way ? 'page' : undefined}>
                {title}
              </PageLink>
            ))}
          </nav>
          {way === 'blank' && <NewSource key="blank" first={BLANK} />}
          {way === 'paste' && <NewSource key="paste" first="" />}
          {way === 'recording' && <UploadRecording />}
          {way === 'example' &&
            (example === null ? <Examples /> : <NewSource key={example} first={exampleSource(example)} />)}
        </>
      ) : (
        <Empty title="Only members and admins make methods." />
      )}
    </Page>
  );
}
