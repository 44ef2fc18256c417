// How a source looks: YAML in our colours, with the page's nonce for the styles that the editor writes.
import { yaml } from '@codemirror/lang-yaml';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { styleNonce } from '../design/style-nonce.ts';

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--succeeded)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--quiet)', fontStyle: 'italic' },
  { tag: [tags.keyword, tags.bool, tags.null, tags.number, tags.atom], color: 'var(--running)' },
  { tag: tags.separator, color: 'var(--quiet)' },
]);

const look = EditorView.theme({
  '&': { fontSize: '12px', backgroundColor: 'var(--back)', color: 'var(--text)' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '1px' },
  '.cm-content': { fontFamily: 'var(--mono)', lineHeight: '18px', caretColor: 'var(--text)' },
  '.cm-gutters': { fontFamily: 'var(--mono)', backgroundColor: 'var(--soft)', color: 'var(--quiet)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--accent) 6%, transparent)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 25%, transparent)',
  },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--accent-soft)', color: 'inherit' },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', color: 'var(--text)', border: '1px solid var(--line)' },
  '.cm-collapsedLines': { background: 'var(--soft)', color: 'var(--quiet)' },
  '.cm-panels': { backgroundColor: 'var(--soft)', color: 'var(--text)' },
  '.cm-textfield, .cm-button': {
    backgroundColor: 'var(--back)',
    backgroundImage: 'none',
    color: 'var(--text)',
    border: '1px solid var(--line-strong)',
  },
  '.cm-diagnostic': { fontFamily: 'inherit', whiteSpace: 'pre-wrap', maxWidth: '480px' },
});

export function methodSyntax(): Extension {
  return [EditorView.cspNonce.of(styleNonce()), yaml(), syntaxHighlighting(colours), look];
}
