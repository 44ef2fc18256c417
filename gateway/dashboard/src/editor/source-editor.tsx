// The editor of method sources: highlighted, and checked by the real validator as one types. Its text keeps the exact
// characters of the source, line ends included.
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching, indentOnInput } from '@codemirror/language';
import { linter, lintGutter, lintKeymap } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import classes from './editor.module.css';
import { findingsOf } from './findings.ts';
import { methodSyntax } from './method-syntax.ts';

export interface SourceEditorProps {
  readonly text: string;
  readonly label: string;
  readonly isReadOnly?: boolean;
  readonly onChange?: (text: string) => void;
  /** Goes to a place of the text; both from 1. */
  readonly goTo?: { readonly line: number; readonly column: number } | null;
}

/** Changes of `text` from outside replace the content. */
export function SourceEditor({ text, label, isReadOnly = false, onChange, goTo = null }: SourceEditorProps) {
  const parent = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const changed = useRef(onChange);
  changed.current = onChange;
  const first = useRef({ text, label, isReadOnly });
  const access = useRef(new Compartment());

  useEffect(() => {
    const { current: element } = parent;
    if (element === null) return undefined;
    const made = new EditorView({
      parent: element,
      doc: first.current.text,
      extensions: [
        ...editorParts(first.current.text, first.current.label),
        access.current.of(accessOf(first.current.isReadOnly)),
        history(),
        keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, ...lintKeymap]),
        lintGutter(),
        linter((shown) => findingsOf(shown.state), { delay: 300 }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) changed.current?.(update.state.sliceDoc());
        }),
      ],
    });
    view.current = made;
    return () => {
      made.destroy();
      view.current = null;
    };
  }, []);
  useEffect(() => {
    view.current?.dispatch({ effects: access.current.reconfigure(accessOf(isReadOnly)) });
  }, [isReadOnly]);
  useEffect(() => {
    const { current } = view;
    if (current === null || current.state.sliceDoc() === text) return;
    current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: text } });
  }, [text]);
  useEffect(() => {
    const { current } = view;
    if (current === null || goTo === null) return;
    const line = current.state.doc.line(Math.min(Math.max(1, goTo.line), current.state.doc.lines));
    const at = Math.min(line.from + goTo.column - 1, line.to);
    current.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: 'center' }) });
    current.focus();
  }, [goTo]);
  return <div ref={parent} className={classes.editor} />;
}

function accessOf(isReadOnly: boolean): Extension {
  return [EditorState.readOnly.of(isReadOnly)];
}

/** Shared with the comparison of two texts. */
export function editorParts(text: string, label: string): Extension[] {
  return [
    // Saved texts keep their line ends.
    ...(text.includes('\r\n') ? [EditorState.lineSeparator.of('\r\n')] : []),
    EditorState.tabSize.of(2),
    lineNumbers(),
    drawSelection(),
    highlightActiveLine(),
    bracketMatching(),
    indentOnInput(),
    highlightSelectionMatches(),
    EditorView.lineWrapping,
    // Tab leaves the editor: a keyboard is never caught in it, and methods are indented by spaces.
    EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false', autocapitalize: 'off' }),
    methodSyntax(),
  ];
}
