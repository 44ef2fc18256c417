// A time from and a time to, typed: what dragging over the histogram selects, for those who do not drag.
import { Button } from '@mantine/core';
import { type FormEvent, useId } from 'react';
import classes from './run-filters.module.css';

interface TimeFieldsProps {
  readonly after: string | undefined;
  readonly before: string | undefined;
  /** RFC 3339; null: without this end. */
  readonly onChange: (after: string | null, before: string | null) => void;
}

export function TimeFields({ after, before, onChange }: TimeFieldsProps) {
  const id = useId();
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = new FormData(event.currentTarget);
    onChange(timeOf(typed.get('after')), timeOf(typed.get('before')));
  };
  return (
    <form className={classes.times} onSubmit={onSubmit}>
      <label htmlFor={`${id}-after`}>From, local time</label>
      <input id={`${id}-after`} name="after" type="datetime-local" defaultValue={fieldOf(after)} />
      <label htmlFor={`${id}-before`}>To</label>
      <input id={`${id}-before`} name="before" type="datetime-local" defaultValue={fieldOf(before)} />
      <Button type="submit" variant="default">
        Show this time
      </Button>
    </form>
  );
}

function timeOf(value: FormDataEntryValue | null): string | null {
  const ms = typeof value === 'string' && value !== '' ? new Date(value).getTime() : Number.NaN;
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}

/** Local, as the field writes it. */
function fieldOf(time: string | undefined): string {
  const ms = Date.parse(time ?? '');
  if (Number.isNaN(ms)) return '';
  return new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
