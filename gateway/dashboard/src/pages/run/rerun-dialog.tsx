// Runs again: with the same version and inputs, from the first step or a later one, or with others, from the first.
import { Button, Modal, NativeSelect, Textarea } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useMemo, useState } from 'react';
import { got } from '../../api/client.ts';
import { shortVersion, useMethod } from '../../api/method-reads.ts';
import { useApi } from '../../api/use-api.ts';
import { HostileText } from '../../design/hostile-text.tsx';
import { RequestId } from '../../design/panel.tsx';
import { useGo } from '../../frame/navigate.ts';
import { showToast } from '../../frame/toast-list.ts';
import classes from './run.module.css';
import { useSteps, useValue, type WholeRun } from './run-reads.ts';

/** Kinds of steps that change nothing outside. Loops and branches may hold steps that do. */
const INSIDE = new Set(['ask', 'wait', 'check']);

interface RerunDialogProps {
  readonly run: WholeRun;
  /** The top-level step to begin with; empty: the first one. */
  readonly fromStep: string;
  readonly onClose: () => void;
}

export function RerunDialog({ run, fromStep, onClose }: RerunDialogProps) {
  const { api } = useApi();
  const go = useGo();
  const methodId = run.method.replace(/^wf_/, '');
  const method = useMethod(methodId);
  const recorded = useSteps(run.run_id, { name: '', status: '' });
  const stored = useValue(run.run_id, 'inputs');
  const [part] = stored.data?.pages ?? [];
  const inputsText = part === undefined || part.next_offset !== null ? null : indented(part.text);
  const [written, setWritten] = useState<string | null>(null);
  const [chosenVersion, setVersion] = useState('same');
  const [chosenStep, setStep] = useState(fromStep);
  const [key] = useState(() => crypto.randomUUID());
  const published = method.data?.published_version ?? null;
  const isOther = chosenVersion === 'published' && published !== null && published !== run.version_id;
  const hasOtherInputs = written !== null && written !== inputsText;
  const fromFirst = isOther || hasOtherInputs;
  const steps = useMemo(
    () => (recorded.data?.pages.flatMap(({ items }) => items) ?? []).filter(({ name }) => /^[^@/[]+$/.test(name)),
    [recorded.data],
  );
  const first = fromFirst ? -1 : steps.findIndex(({ name }) => name === chosenStep);
  const again = steps.slice(Math.max(0, first)).filter(({ kind }) => !INSIDE.has(kind));
  const inputs = written === null ? null : parsed(written);
  const start = useMutation({
    async mutationFn() {
      if (!fromFirst) {
        const body = { idempotency_key: key, ...(chosenStep !== '' && { from_step: chosenStep }) };
        const { run_id } = await got(api.POST('/api/runs/{id}/rerun', { params: { path: { id: run.run_id } }, body }));
        return run_id;
      }
      const body = {
        method: run.method,
        version: isOther ? (published ?? run.version_id) : run.version_id,
        inputs: (inputs ?? parsed(inputsText ?? '{}')) as Record<string, never>,
        metadata: run.metadata,
        answer_by: run.answer_by,
        rerun_of: run.run_id,
        idempotency_key: key,
      };
      const { run_id } = await got(api.POST('/api/runs', { body }));
      return run_id;
    },
    onSuccess(runId) {
      showToast({ text: 'A new run has started.' });
      go(`/runs/${runId}`);
    },
  });
  const isWrong = written !== null && inputs === undefined;
  return (
    <Modal opened onClose={onClose} title="Run again" size="lg" closeOnClickOutside={!start.isPending}>
      <form
        className={classes.form}
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          if (!start.isPending && !isWrong) start.mutate();
        }}
      >
        <NativeSelect
          label="Version"
          size="sm"
          value={chosenVersion}
          onChange={(event) => setVersion(event.currentTarget.value)}
          data={[
            { value: 'same', label: `The same, ${shortVersion(run.version_id)}` },
            ...(published === null || published === run.version_id
              ? []
              : [{ value: 'published', label: `The published one, ${shortVersion(published)}` }]),
          ]}
        />
        {inputsText === null ? (
          <p className={classes.quiet}>
            Its inputs are {part === undefined ? 'being read' : 'too large to edit here'}.
          </p>
        ) : (
          <Textarea
            label="Inputs"
            description="JSON, as the run had them. Changed inputs begin with the first step."
            size="sm"
            autosize
            minRows={3}
            maxRows={14}
            classNames={{ input: classes.code ?? '' }}
            value={written ?? inputsText}
            error={isWrong ? 'This is not a JSON object.' : undefined}
            spellCheck={false}
            onChange={(event) => setWritten(event.currentTarget.value)}
          />
        )}
        <NativeSelect
          label="First step"
          description={
            fromFirst
              ? 'Another version, or other inputs, begin with the first step.'
              : 'Earlier steps keep their results.'
          }
          size="sm"
          disabled={fromFirst}
          value={fromFirst ? '' : chosenStep}
          onChange={(event) => setStep(event.currentTarget.value)}
          data={[
            { value: '', label: 'From the beginning' },
            ...steps.map(({ name, kind }) => ({ value: name, label: `${name} (${kind})` })),
          ]}
        />
        {again.length > 0 && (
          <p className={classes.notice}>
            {again.length === 1 ? 'This step acts again: ' : 'These steps act again: '}
            {again.slice(0, 20).map(({ name }, at) => (
              <span key={name}>
                {at > 0 && ', '}
                <HostileText text={name} max={60} />
              </span>
            ))}
            {again.length > 20 && ` and ${again.length - 20} more`}. What they do outside happens twice unless they
            guard against it.
          </p>
        )}
        {start.error !== null && (
          <p role="alert" className={classes.failed}>
            {start.error.message} <RequestId error={start.error} />
          </p>
        )}
        <div className={classes.buttons}>
          <Button variant="default" onClick={onClose} disabled={start.isPending}>
            Back
          </Button>
          <Button type="submit" loading={start.isPending} disabled={isWrong} data-autofocus>
            Start 1 run
          </Button>
        </div>
      </form>
    </Modal>
  );
}

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

/** Undefined: no JSON object. */
function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
