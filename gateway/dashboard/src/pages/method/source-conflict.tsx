// Two people changed the same version: the other's text on the left, one's own on the right, and parts of the left one
// can be taken over. What is then on the right is saved upon the other's version.
import { Button } from '@mantine/core';
import { useMemo, useState } from 'react';
import { type SourceVersion, useVersion, type WholeMethod } from '../../api/method-reads.ts';
import { HostileText } from '../../design/hostile-text.tsx';
import { Panel } from '../../design/panel.tsx';
import { ComparedSources } from '../../editor/compared-sources.tsx';
import { diagnosticsOf } from '../../editor/findings.ts';
import { Time } from '../../time/time.tsx';
import classes from './method.module.css';
import { SaveVersion } from './save-version.tsx';

interface SourceConflictProps {
  readonly method: WholeMethod;
  /** The version that the other person saved. */
  readonly theirs: string;
  readonly mine: string;
  readonly onBack: () => void;
  readonly onSaved: (versionId: string, text: string) => void;
  readonly onConflict: (current: string) => void;
}

export function SourceConflict(props: SourceConflictProps) {
  const version = useVersion(props.method.id, props.theirs);
  return (
    <Panel query={version} what="Version">
      {(data) => <Merge key={data.version_id} {...props} version={data} />}
    </Panel>
  );
}

function Merge({
  method,
  version,
  mine,
  onBack,
  onSaved,
  onConflict,
}: SourceConflictProps & { version: SourceVersion }) {
  const [merged, setMerged] = useState(mine);
  const [isSaving, setSaving] = useState(false);
  const errors = useMemo(() => diagnosticsOf(merged).filter(({ severity }) => severity === 'error').length, [merged]);
  return (
    <div className={classes.source}>
      <div role="alert" className={classes.notice}>
        <strong>
          <bdi>{version.created_by.name || version.created_by.id}</bdi> saved another version at{' '}
          <Time at={version.created_at} />.
        </strong>{' '}
        {version.reason !== '' && (
          <>
            “<HostileText text={version.reason} max={300} />”{' '}
          </>
        )}
        Nothing of yours is saved yet. Take over what you need from the left, then save the right.
      </div>
      <ComparedSources
        left={{ text: version.source, label: 'Their version' }}
        right={{ text: mine, label: 'Your text' }}
        onChange={setMerged}
      />
      <div className={classes.sourceHead}>
        <span role="status" className={classes.quiet}>
          {errors === 0
            ? 'The validator finds no error in your text.'
            : `${errors} ${errors === 1 ? 'error' : 'errors'} in your text.`}
        </span>
        <Button variant="default" size="compact-sm" onClick={onBack}>
          Back to the editor
        </Button>
        <Button size="compact-sm" disabled={errors > 0} onClick={() => setSaving(true)}>
          Save the merged text
        </Button>
      </div>
      {isSaving && (
        <SaveVersion
          method={method}
          base={version.version_id}
          source={merged}
          onClose={() => setSaving(false)}
          onSaved={(versionId) => onSaved(versionId, merged)}
          onConflict={onConflict}
        />
      )}
    </div>
  );
}
