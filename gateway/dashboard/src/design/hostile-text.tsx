// A text of anyone: shown as text only, apart from the direction of the text around it, with a sign for each character
// that would not be seen, and cut where it is too long to lay out.
import { Fragment } from 'react';
import classes from './hostile-text.module.css';
import { seenParts } from './seen-text.ts';

interface HostileTextProps {
  readonly text: string;
  /** Characters shown at most; the rest is counted. */
  readonly max?: number;
  /** Keep line breaks. */
  readonly lines?: boolean;
}

const MAX = 2_000;

export function HostileText({ text, max = MAX, lines = false }: HostileTextProps) {
  const cut = text.length > max ? text.slice(0, max).replace(/[\ud800-\udbff]$/, '') : text;
  return (
    <bdi className={lines ? classes.lines : classes.text}>
      {seenParts(cut, lines).map((part, at) =>
        part.unseen === null ? (
          <Fragment key={at}>{part.text}</Fragment>
        ) : (
          <span key={at} className={classes.sign} title={part.unseen}>
            {part.text}
          </span>
        ),
      )}
      {cut.length < text.length && (
        <span className={classes.more}>… {(text.length - cut.length).toLocaleString('en')} more characters</span>
      )}
    </bdi>
  );
}
