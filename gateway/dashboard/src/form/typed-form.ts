// A form that is being filled in: what its controls hold, and what that makes of an answer. The reading is that of the
// answer page, by libs/form.
import type { Form } from '@methods/form/field';
import { type PostedAnswer, readPostedAnswer } from '@methods/form/posted-answer';
import { pointer, rowsTyped, type Typed, typedValues } from '@methods/form/typed-values';
import type { JsonObject } from '@methods/method/json';
import { useMemo, useState } from 'react';

export interface TypedForm {
  readonly form: Form;
  readonly typed: Typed;
  /** By the JSON Pointer of a field; shown once the person tried to send, or the server refused. */
  readonly faults: ReadonlyMap<string, string>;
  readonly isTouched: boolean;
  readonly change: (at: string, texts: readonly string[]) => void;
  readonly addRow: (at: string) => void;
  readonly removeRow: (at: string, row: number) => void;
  /** Null while something is missing, which the form then shows. */
  readonly read: () => PostedAnswer | null;
  readonly refuse: (faults: ReadonlyMap<string, string>) => void;
  readonly clear: () => void;
}

const NONE: ReadonlyMap<string, string> = new Map();

/** `values`: what the controls show at first, beside the defaults. */
export function useTypedForm(form: Form, values: JsonObject = {}): TypedForm {
  const first = useMemo(() => typedValues(form, values), [form, values]);
  const [typed, setTyped] = useState(first);
  const [faults, setFaults] = useState(NONE);
  const [isTouched, setTouched] = useState(false);
  const set = (next: Typed) => {
    setTyped(next);
    setTouched(true);
  };
  return {
    form,
    typed,
    faults,
    isTouched,
    change(at, texts) {
      set(new Map(typed).set(at, texts));
      if (faults.has(at)) setFaults(new Map([...faults].filter(([each]) => each !== at)));
    },
    addRow(at) {
      const rows = rowsTyped(typed).get(at) ?? 0;
      set(new Map(typed).set(pointer(at, Math.max(rows, 1)), ['']));
    },
    removeRow: (at, row) => set(withoutRow(typed, at, row)),
    read() {
      const entries = [...typed].flatMap(([at, texts]) => texts.map((text) => [at, text] as const));
      const posted = readPostedAnswer(form, entries);
      setFaults(posted.faults);
      return posted.faults.size === 0 ? posted : null;
    },
    refuse: setFaults,
    clear() {
      setTyped(first);
      setFaults(NONE);
      setTouched(false);
    },
  };
}

/** The rows after it move up. */
function withoutRow(typed: Typed, at: string, row: number): Typed {
  const kept = new Map<string, readonly string[]>();
  for (const [name, texts] of typed) {
    const found = name.startsWith(`${at}/`) ? /^(\d{1,6})(\/.*)?$/.exec(name.slice(at.length + 1)) : null;
    const number = found === null ? -1 : Number(found[1]);
    if (number === row) continue;
    kept.set(number > row ? `${at}/${number - 1}${found?.[2] ?? ''}` : name, texts);
  }
  return kept;
}
