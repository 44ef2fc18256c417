// Starts a run of a version with inputs from a form made of its schema, and goes to the run.
import { Button, NativeSelect } from '@mantine/core';
import { readForm } from '@methods/form/field';
import type { JsonSchema } from '@methods/method/json';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useMemo, useRef, useState } from 'react';
import { got } from '../../api/client.ts';
import { isFailure } from '../../api/failure.ts';
import { type SourceVersion, useVersion, type WholeMethod } from '../../api/method-reads.ts';
import { useApi } from '../../api/use-api.ts';
import { Command } from '../../design/command.tsx';
import { RequestId } from '../../design/panel.tsx';
import { FormFields } from '../../form/form-fields.tsx';
import { useTypedForm } from '../../form/typed-form.ts';
import { useGo } from '../../frame/navigate.ts';
import { useSettings } from '../../session/settings.ts';
import classes from './method.module.css';

interface TestRunFormProps {
  readonly method: WholeMethod;
  readonly version: SourceVersion;
}

export function TestRunForm({ method, version }: TestRunFormProps) {
  const { current_version: current, published_version: published } = method;
  const [chosen, setChosen] = useState(version.version_id);
  const other = useVersion(method.id, chosen === version.version_id ? null : chosen);
  const shown = chosen === version.version_id ? version : other.data;
  const settings = useSettings();
  if (settings.data?.content_on_devices) {
    return (
      <>
        <p>The organization keeps run content on devices: runs start where the content key is.</p>
        <Command text={`npx methods start ${method.production_id} --inputs '{}'`} />
      </>
    );
  }
  return (
    <>
      {current !== null && published !== null && current !== published && (
        <NativeSelect
          label="Version"
          size="sm"
          value={chosen}
          data={[
            { value: published, label: 'Published' },
            { value: current, label: 'Newest, not published' },
          ]}
          onChange={(event) => setChosen(event.currentTarget.value)}
        />
      )}
      {shown === undefined ? null : <Inputs key={shown.version_id} method={method} version={shown} />}
    </>
  );
}

function Inputs({ method, version }: TestRunFormProps) {
  const { api } = useApi();
  const go = useGo();
  const schema = useMemo(() => readForm((version.inputs ?? {}) as JsonSchema), [version]);
  const form = useTypedForm(schema);
  // The same key until the reply is known: a second press starts no second run.
  const key = useRef<string | null>(null);
  const start = useMutation({
    mutationFn(inputs: object) {
      key.current ??= crypto.randomUUID();
      return got(
        api.POST('/api/runs', {
          body: {
            method: method.production_id,
            version: version.version_id,
            inputs: inputs as Record<string, never>,
            idempotency_key: key.current,
            answer_by: 'team',
          },
        }),
      );
    },
    onSuccess: (run) => go(`/runs/${(run as { run_id: string }).run_id}`),
    onError(error) {
      if (isFailure(error) && error.status > 0 && error.status < 500) key.current = null;
      if (isFailure(error, 'invalid_inputs'))
        form.refuse(new Map(error.details.map(({ path, message }) => [path, message])));
    },
  });
  const send = (event: FormEvent) => {
    event.preventDefault();
    const read = form.read();
    if (read === null) return;
    start.mutate(read.answer);
  };
  return (
    <form className={classes.form} onSubmit={send} aria-label="Inputs">
      <FormFields form={form} disabled={start.isPending} />
      {start.error !== null && !isFailure(start.error, 'invalid_inputs') && (
        <p role="alert" className={classes.wrong}>
          The run could not be started. {start.error.message} <RequestId error={start.error} />
        </p>
      )}
      <Button type="submit" size="sm" loading={start.isPending}>
        Start a run
      </Button>
    </form>
  );
}
