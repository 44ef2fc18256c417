// Two texts side by side, with what differs: of two versions, or of two people who changed the same version.
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { useMediaQuery } from '@mantine/hooks';
import { useEffect, useRef } from 'react';
import classes from './editor.module.css';
import { editorParts } from './source-editor.tsx';

interface ComparedText {
  readonly text: string;
  readonly label: string;
}

interface ComparedSourcesProps {
  readonly left: ComparedText;
  readonly right: ComparedText;
  /** Set: the right text can be changed, also by taking parts of the left one. */
  readonly onChange?: (text: string) => void;
}

const FOLDED = { collapseUnchanged: { margin: 3, minSize: 6 } };

export function ComparedSources({ left, right, onChange }: ComparedSourcesProps) {
  const isNarrow = useMediaQuery('(max-width: 900px)', false, { getInitialValueInEffect: false });
  const parent = useRef<HTMLDivElement>(null);
  const changed = useRef(onChange);
  changed.current = onChange;
  // What is typed comes back as the right text; only another left one begins again.
  const start = useRef(right);
  start.current = right;
  const isEditable = onChange !== undefined;
  const rightKey = isEditable ? '' : right.text;

  useEffect(() => {
    const { current: element } = parent;
    if (element === null) return undefined;
    const { text, label } = start.current;
    const fixed = [EditorState.readOnly.of(true)];
    const typed = [
      history(),
      keymap.of([...defaultKeymap, ...historyKeymap]),
      EditorView.updateListener.of(({ docChanged, state }) => docChanged && changed.current?.(state.sliceDoc())),
    ];
    const own = [...editorParts(text, label), ...(isEditable ? typed : fixed)];
    if (isNarrow) {
      const merge = unifiedMergeView({ original: left.text, mergeControls: isEditable, ...FOLDED });
      const view = new EditorView({ parent: element, doc: text, extensions: [...own, merge] });
      return () => view.destroy();
    }
    const view = new MergeView({
      parent: element,
      a: { doc: left.text, extensions: [...editorParts(left.text, left.label), ...fixed] },
      b: { doc: text, extensions: own },
      ...(isEditable && { revertControls: 'a-to-b' as const }),
      ...FOLDED,
    });
    return () => view.destroy();
  }, [left.text, left.label, rightKey, isEditable, isNarrow]);

  return (
    <div className={classes.compared}>
      {!isNarrow && (
        <div className={classes.names}>
          <span>{left.label}</span>
          <span>{right.label}</span>
        </div>
      )}
      <div ref={parent} className={classes.editor} />
    </div>
  );
}
