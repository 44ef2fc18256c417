// What is beside a control: its label, what it expects, and its fault; and the frame of a group of controls.
import type { Field } from '@methods/form/field';
import { NEEDS_CHOICE } from '@methods/form/posted-answer';
import { type ReactNode, useId } from 'react';
import { HostileText } from '../design/hostile-text.tsx';
import classes from './form-fields.module.css';
import type { TypedForm } from './typed-form.ts';

interface FieldSetProps {
  readonly field: Field;
  readonly label: string;
  readonly hint: string;
  readonly wrong: string | null;
  readonly at: string;
  readonly children: ReactNode;
}

export function FieldSet({ field, label, hint, wrong, at, children }: FieldSetProps) {
  const id = useId();
  return (
    <fieldset className={classes.set} aria-describedby={wrong === null ? undefined : id} data-at={at} tabIndex={-1}>
      <legend>
        <Label label={label} field={field} />
      </legend>
      <span className={classes.hint}>
        <Description field={field} hint={hint} />
      </span>
      {wrong !== null && (
        <p id={id} className={classes.fault}>
          {wrong}
        </p>
      )}
      {children}
    </fieldset>
  );
}

export function Label({ label, field }: { readonly label: string; readonly field: Field }) {
  return (
    <>
      <HostileText text={label} max={200} />
      {!field.required && <span className={classes.optional}> (optional)</span>}
    </>
  );
}

const DEFAULT_CHARACTERS_MAX = 100;

export function Description({ field, hint }: { readonly field: Field; readonly hint: string }) {
  const fallback = field.default === undefined ? '' : JSON.stringify(field.default);
  const unless = fallback === '' || fallback.length > DEFAULT_CHARACTERS_MAX ? '' : `${fallback} unless given.`;
  return (
    <HostileText
      text={[ended(field.description ?? ''), hint, unless].filter((text) => text !== '').join(' ')}
      max={1_000}
    />
  );
}

export function fault(form: TypedForm, at: string, label: string): string | null {
  const message = form.faults.get(at);
  if (message === undefined) return null;
  return message === NEEDS_CHOICE ? `Choose one for ${label}.` : `${label} ${message}`;
}

/** A check's own sentence, or what is wrong with all of it. */
export function wholeFault(message: string): string {
  return /^[a-z]/.test(message) ? `It ${message}` : message;
}

/** So that another sentence may follow. */
function ended(text: string): string {
  return text === '' || /[\p{P}\p{S}]$/u.test(text) ? text : `${text}.`;
}
