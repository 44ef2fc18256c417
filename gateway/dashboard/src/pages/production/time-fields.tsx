// A time from and a time to, typed: what dragging over the histogram selects, for those who do not drag.
import { Button } from '@mantine/core';
import { type FormEvent, useId } from 'react';
import { timeField, typedTime } from '../../time/typed-time.ts';
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
    onChange(typedTime(typed.get('after')), typedTime(typed.get('before')));
  };
  return (
    <form className={classes.times} onSubmit={onSubmit}>
      <label htmlFor={`${id}-after`}>From, local time</label>
      <input id={`${id}-after`} name="after" type="datetime-local" defaultValue={timeField(after)} />
      <label htmlFor={`${id}-before`}>To</label>
      <input id={`${id}-before`} name="before" type="datetime-local" defaultValue={timeField(before)} />
      <Button type="submit" variant="default">
        Show this time
      </Button>
    </form>
  );
}
