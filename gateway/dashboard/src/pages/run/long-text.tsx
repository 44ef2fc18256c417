// A JSON text of any length. It is laid out only where it is seen, and found by the browser's own search.
import { useMemo } from 'react';
import { seenJson } from '../../design/seen-text.ts';
import classes from './run.module.css';
import { textBlocks } from './text-blocks.ts';

export function LongText({ json }: { readonly json: string }) {
  const blocks = useMemo(() => textBlocks(seenJson(json)), [json]);
  return (
    <pre className={classes.text} tabIndex={0}>
      {blocks.map((block, at) => (
        <bdi key={at} className={classes.block}>
          {block}
        </bdi>
      ))}
    </pre>
  );
}
