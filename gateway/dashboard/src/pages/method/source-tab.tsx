// Source: the newest version's text in the editor, checked as one types, and saved as a new version with a reason. On a
// phone it is only read.
import { Button } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { upgradeSource } from '@methods/method/upgrade/upgrade-source';
import { useBlocker } from '@tanstack/react-router';
import { useDeferredValue, useEffect, useMemo, useState } from 'react';
import { shortVersion, useVersion, type WholeMethod } from '../../api/method-reads.ts';
import { Panel } from '../../design/panel.tsx';
import { FindingList } from '../../editor/finding-list.tsx';
import { diagnosticsOf } from '../../editor/findings.ts';
import { SourceEditor } from '../../editor/source-editor.tsx';
import { useSearchState } from '../../frame/navigate.ts';
import { useMay } from '../../session/viewer.tsx';
import classes from './method.module.css';
import type { MethodTabProps } from './method-page.tsx';
import { SaveVersion } from './save-version.tsx';
import { SourceConflict } from './source-conflict.tsx';

const FIRST_SOURCE =
  'format: method/2\nname: my-method\nsteps:\n  - name: hello\n    node: |\n      return { text: "Hello" }\n    out: { text: string }\n';

export function SourceTab({ method }: MethodTabProps) {
  const [search] = useSearchState();
  const asked = search.version ?? null;
  // What one edits does not change because another person saves: that is found, and merged, on saving.
  const [base, setBase] = useState(method.current_version);
  const shown = asked ?? base;
  const version = useVersion(method.id, shown);
  if (shown === null) {
    return <SourceWriter key="first" method={method} base="" saved={FIRST_SOURCE} isOld={false} onBase={setBase} />;
  }
  return (
    <Panel query={version} what="Source">
      {(data) => (
        <SourceWriter
          key={data.version_id}
          method={method}
          base={data.version_id}
          saved={data.source}
          isOld={asked !== null && asked !== method.current_version}
          onBase={setBase}
        />
      )}
    </Panel>
  );
}

interface SourceWriterProps {
  readonly method: WholeMethod;
  /** Empty: the method has no version. */
  readonly base: string;
  readonly saved: string;
  /** An older version, which is only read. */
  readonly isOld: boolean;
  readonly onBase: (versionId: string) => void;
}

function SourceWriter({ method, base, saved, isOld, onBase }: SourceWriterProps) {
  const [, changeSearch] = useSearchState();
  const isPhone = useMediaQuery('(max-width: 720px)', false, { getInitialValueInEffect: false });
  const mayWrite = useMay('member') && !isPhone && !isOld;
  const [text, setText] = useState(saved);
  const [place, setPlace] = useState<{ line: number; column: number } | null>(null);
  const [isSaving, setSaving] = useState(false);
  const [conflict, setConflict] = useState<string | null>(null);
  const isChanged = text !== saved || base === '';
  useBlocker({
    shouldBlockFn: () =>
      text !== saved && !window.confirm('Leave without saving? The changes of this source are lost.'),
    enableBeforeUnload: () => text !== saved,
    disabled: text === saved,
  });
  const checked = useDeferredValue(useSettled(text));
  const findings = useMemo(() => diagnosticsOf(checked), [checked]);
  const hasErrors = findings.some(({ severity }) => severity === 'error');
  const isOlderFormat = /^format:\s*["']?workflow\/1/m.test(saved.slice(0, 4_096));

  if (conflict !== null) {
    return (
      <SourceConflict
        method={method}
        theirs={conflict}
        mine={text}
        onBack={() => setConflict(null)}
        onSaved={(versionId, merged) => {
          setText(merged);
          setConflict(null);
          onBase(versionId);
        }}
        onConflict={setConflict}
      />
    );
  }
  return (
    <div className={classes.source}>
      <div className={classes.sourceHead}>
        <span className={classes.quiet}>
          {base === ''
            ? 'No version is saved yet.'
            : isOld
              ? `Version ${shortVersion(base)}, an earlier one: read only.`
              : `Version ${shortVersion(base)}, the newest.`}
          {isPhone && ' On a phone a source is only read.'}
          {text !== saved && ' Changed, not saved.'}
        </span>
        {isOld && (
          <Button variant="default" size="compact-sm" onClick={() => changeSearch({ version: null })}>
            To the newest
          </Button>
        )}
        {mayWrite && isOlderFormat && (
          <Button variant="default" size="compact-sm" onClick={() => setText(upgradeSource(text).source ?? text)}>
            Upgrade to method/2
          </Button>
        )}
        {mayWrite && text !== saved && (
          <Button variant="subtle" size="compact-sm" onClick={() => setText(saved)}>
            Undo all changes
          </Button>
        )}
        {mayWrite && (
          <Button size="compact-sm" disabled={!isChanged || hasErrors} onClick={() => setSaving(true)}>
            Save as new version
          </Button>
        )}
      </div>
      <SourceEditor
        text={text}
        label={`Source of ${method.display_name}`}
        isReadOnly={!mayWrite}
        onChange={setText}
        goTo={place}
      />
      <FindingList findings={findings} onGoTo={({ line, column }) => setPlace({ line, column })} />
      {isSaving && (
        <SaveVersion
          method={method}
          base={base}
          source={text}
          onClose={() => setSaving(false)}
          onSaved={onBase}
          onConflict={setConflict}
        />
      )}
    </div>
  );
}

const SETTLED_MS = 300;

/** The text once no one has typed for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
