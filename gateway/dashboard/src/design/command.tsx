// A command to run in a terminal, with a button that copies it.

import classes from './command.module.css';
import { CopyButton } from './copy-button.tsx';

/** One command, or several lines of it. */
export function Command({ text }: { readonly text: string }) {
  return (
    <div className={classes.command}>
      <pre tabIndex={0}>{text}</pre>
      <CopyButton text={text} what="the command" />
    </div>
  );
}
