// Copies a text, and says so where it was pressed.
import { ActionIcon, Tooltip } from '@mantine/core';
import { useEffect, useState } from 'react';
import { Icon } from './icons.tsx';

const SHOWN_MS = 1_500;

interface CopyButtonProps {
  /** Or what makes it when it is copied. */
  readonly text: string | (() => string);
  /** What it copies, like `the run’s id`. */
  readonly what: string;
}

export function CopyButton({ text, what }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<'copied' | 'refused' | null>(null);
  useEffect(() => {
    if (outcome === null) return undefined;
    const timer = setTimeout(() => setOutcome(null), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  const label = outcome === null ? `Copy ${what}` : outcome === 'copied' ? 'Copied' : 'Your browser does not allow it';
  return (
    <Tooltip label={label} {...(outcome === null ? {} : { opened: true })}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size={24}
        aria-label={label}
        onClick={(event) => {
          event.stopPropagation();
          copyText(typeof text === 'string' ? text : text()).then(setOutcome, () => setOutcome('refused'));
        }}
      >
        <Icon name={outcome === 'copied' ? 'check' : 'copy'} size={14} />
      </ActionIcon>
    </Tooltip>
  );
}

async function copyText(text: string): Promise<'copied'> {
  await navigator.clipboard.writeText(text);
  return 'copied';
}
