// The controls of a form's fields, native ones where a browser has them: each with its label, what it expects, and its
// fault beside it.
import { Button, Checkbox, NativeSelect, Radio, Textarea, TextInput } from '@mantine/core';
import { choiceWords, labelOf } from '@methods/form/answer-words';
import { countWords, hintOf, isLong, listHint } from '@methods/form/control-words';
import type { ChoiceField, Field, GroupField, ListField, NumberField, TextField } from '@methods/form/field';
import { GIVEN, hasRows, mayBeLeftOut, pointer, rowsTyped } from '@methods/form/typed-values';
import type { JsonValue } from '@methods/method/json';
import { HostileText } from '../design/hostile-text.tsx';
import { Description, FieldSet, fault, Label, wholeFault } from './field-notes.tsx';
import classes from './form-fields.module.css';
import type { TypedForm } from './typed-form.ts';

/** With more choices than this, a drop-down list is used. */
const RADIOS_MAX = 9;
/** Beyond this, a field takes the text of a choice. */
const CHOICES_MAX = 500;
const ROWS_MAX = 50;

interface FieldsProps {
  readonly form: TypedForm;
  readonly disabled?: boolean;
}

export function FormFields({ form, disabled = false }: FieldsProps) {
  return (
    <div className={classes.fields}>
      {form.faults.has('') && (
        <p role="alert" className={classes.fault}>
          {wholeFault(form.faults.get('') ?? '')}
        </p>
      )}
      <Fields fields={form.form.fields} at="" form={form} disabled={disabled} isNumbered />
    </div>
  );
}

interface PartProps extends Required<FieldsProps> {
  readonly at: string;
}

function Fields({
  fields,
  at,
  isNumbered = false,
  ...rest
}: PartProps & { fields: readonly Field[]; isNumbered?: boolean }) {
  const first = isNumbered ? fields.find(isChosen) : undefined;
  return fields.map((field) => (
    <FieldPart
      key={field.name}
      field={field}
      at={pointer(at, field.name)}
      label={labelOf(field)}
      isNumbered={field === first}
      {...rest}
    />
  ));
}

/** The field that the keys 1 to 9 choose in. */
export function isChosen(field: Field): field is Field & { kind: 'choice' | 'boolean' } {
  return field.kind === 'boolean' || (field.kind === 'choice' && field.choices.length <= RADIOS_MAX);
}

/** The choices of a field with radio buttons, as they are shown. */
export function choicesOf(field: Field): readonly JsonValue[] {
  const choices: readonly JsonValue[] =
    field.kind === 'choice' ? field.choices : field.kind === 'boolean' ? [true, false] : [];
  return field.nullable ? [...choices, null] : choices;
}

interface FieldPartProps<Kind extends Field = Field> extends PartProps {
  readonly field: Kind;
  readonly label: string;
  readonly isNumbered?: boolean;
}

function FieldPart(props: FieldPartProps) {
  const { field } = props;
  switch (field.kind) {
    case 'group':
      return <Group {...props} field={field} />;
    case 'list':
      if (hasRows(field)) return <Rows {...props} field={field} />;
      if (field.item.kind === 'choice' && field.item.choices.length <= CHOICES_MAX)
        return <Boxes {...props} field={field} item={field.item} />;
      return <Written {...props} hint={listHint(field)} long />;
    case 'choice':
    case 'boolean':
      if (isChosen(field)) return <Radios {...props} />;
      if (choicesOf(field).length <= CHOICES_MAX) return <Drop {...props} />;
      return <Written {...props} hint={hintOf(field)} />;
    default:
      return <Written {...props} hint={hintOf(field)} />;
  }
}

function Written({
  field,
  at,
  label,
  form,
  disabled,
  hint,
  long = false,
}: FieldPartProps & { hint: string; long?: boolean }) {
  const text = form.typed.get(at)?.[0] ?? '';
  const shared = {
    label: <Label label={label} field={field} />,
    description: <Description field={field} hint={hint} />,
    error: fault(form, at, label),
    value: text,
    disabled,
    size: 'sm' as const,
    'data-at': at,
    autoComplete: 'off',
    onChange: (event: { currentTarget: { value: string } }) => form.change(at, [event.currentTarget.value]),
  };
  if (long || isLong(field, text)) {
    const isCode = field.kind === 'json';
    return (
      <Textarea
        {...shared}
        autosize
        minRows={isCode ? 6 : 3}
        maxRows={16}
        spellCheck={!isCode}
        {...(isCode && { classNames: { input: classes.code ?? '' } })}
      />
    );
  }
  return <TextInput {...shared} {...inputKind(field, text)} />;
}

function inputKind(field: Field, text: string) {
  if (field.kind === 'number') return { inputMode: inputMode(field) };
  return field.kind === 'text' ? (timeInput(field, text) ?? TYPING[field.format ?? ''] ?? {}) : {};
}

function inputMode({ integer, minimum }: NumberField) {
  // The number keyboard of a phone has no minus sign.
  return minimum === null || minimum < 0 ? 'text' : integer ? 'numeric' : 'decimal';
}

const TYPING: Readonly<Record<string, object>> = {
  email: { inputMode: 'email', spellCheck: false },
  uri: { inputMode: 'url', spellCheck: false },
};

/** A picker of the browser; null if it would lose what is typed. */
function timeInput({ format }: TextField, text: string) {
  if (format === 'date' && /^(\d{4}-\d\d-\d\d)?$/.test(text)) return { type: 'date' };
  if (format !== 'date-time') return null;
  const found = /^(?:(\d{4}-\d\d-\d\dT\d\d:\d\d)(?::00)?Z?)?$/.exec(text);
  return found === null ? null : { type: 'datetime-local', value: found[1] ?? '' };
}

interface Option {
  readonly json: string;
  readonly word: string;
}

function optionsOf(field: Field): Option[] {
  const values = choicesOf(field);
  const words = choiceWords(values);
  return values.map((value, at) => ({ json: JSON.stringify(value), word: words[at] ?? '' }));
}

function Radios({ field, at, label, form, disabled, isNumbered = false }: FieldPartProps) {
  const chosen = form.typed.get(at)?.[0] ?? null;
  const options = optionsOf(field);
  const numbers = isNumbered && options.length > 1;
  if (!field.required && field.default === undefined) options.push({ json: '', word: 'No answer' });
  const wrong = fault(form, at, label);
  return (
    <Radio.Group
      label={<Label label={label} field={field} />}
      description={<Description field={field} hint="" />}
      error={wrong}
      value={chosen}
      onChange={(json) => form.change(at, [json])}
      data-at={at}
    >
      <div className={classes.options}>
        {options.map(({ json, word }, index) => (
          <Radio
            key={json}
            value={json}
            disabled={disabled}
            className={classes.option ?? ''}
            label={
              <>
                {numbers && json !== '' && (
                  <span aria-hidden="true" className={classes.number}>
                    {index + 1}
                  </span>
                )}
                <HostileText text={word} max={300} />
              </>
            }
          />
        ))}
      </div>
    </Radio.Group>
  );
}

function Drop({ field, at, label, form, disabled }: FieldPartProps) {
  const data = [
    { value: '', label: 'Choose…' },
    ...optionsOf(field).map(({ json, word }) => ({ value: json, label: word.slice(0, 300) })),
  ];
  return (
    <NativeSelect
      label={<Label label={label} field={field} />}
      description={<Description field={field} hint="" />}
      error={fault(form, at, label)}
      size="sm"
      data={data}
      value={form.typed.get(at)?.[0] ?? ''}
      disabled={disabled}
      data-at={at}
      onChange={(event) => form.change(at, [event.currentTarget.value])}
    />
  );
}

function Boxes({ field, item, at, label, form, disabled }: FieldPartProps<ListField> & { item: ChoiceField }) {
  const ticked = form.typed.get(at)?.filter((json) => json !== '') ?? [];
  const words = choiceWords(item.choices);
  return (
    <Checkbox.Group
      label={<Label label={label} field={field} />}
      description={<Description field={field} hint={`Tick ${countWords(field, 'any number')}.`} />}
      error={fault(form, at, label)}
      value={ticked}
      onChange={(values) => form.change(at, ['', ...values])}
      data-at={at}
    >
      <div className={classes.options}>
        {item.choices.map((choice, index) => {
          const json = JSON.stringify(choice);
          return (
            <Checkbox
              key={json}
              value={json}
              disabled={disabled}
              label={<HostileText text={words[index] ?? ''} max={300} />}
            />
          );
        })}
      </div>
    </Checkbox.Group>
  );
}

function Rows({ field, at, label, form, disabled }: FieldPartProps<ListField>) {
  const typed = rowsTyped(form.typed).get(at) ?? 0;
  const most = field.maxItems ?? Number.POSITIVE_INFINITY;
  const shown = Math.min(Math.max(typed, field.minItems, 1), ROWS_MAX, Math.max(most, typed));
  return (
    <FieldSet
      field={field}
      label={label}
      hint={`${countWords(field, 'Any number of')} items.`}
      wrong={fault(form, at, label)}
      at={at}
    >
      {Array.from({ length: shown }, (_, row) => (
        <div key={row} className={classes.row}>
          <FieldPart
            field={field.item}
            at={pointer(at, row)}
            label={`${label} ${row + 1}`}
            form={form}
            disabled={disabled}
          />
          {row < typed && (
            <Button variant="subtle" size="compact-xs" disabled={disabled} onClick={() => form.removeRow(at, row)}>
              Remove {label} {row + 1}
            </Button>
          )}
        </div>
      ))}
      {shown < Math.min(most, ROWS_MAX) && (
        <Button variant="default" size="compact-sm" disabled={disabled} onClick={() => form.addRow(at)}>
          Add another
        </Button>
      )}
    </FieldSet>
  );
}

function Group({ field, at, label, form, disabled }: FieldPartProps<GroupField>) {
  const isGiven = form.typed.get(at)?.includes(GIVEN) ?? false;
  const hasBox = mayBeLeftOut(field) && field.fields.every(({ required }) => !required);
  return (
    <FieldSet field={field} label={label} hint="" wrong={fault(form, at, label)} at={at}>
      {hasBox && (
        <Checkbox
          label="Include it even if its fields are empty"
          checked={isGiven}
          disabled={disabled}
          onChange={(event) => form.change(at, event.currentTarget.checked ? [GIVEN] : [])}
        />
      )}
      <Fields fields={field.fields} at={at} form={form} disabled={disabled} />
    </FieldSet>
  );
}
