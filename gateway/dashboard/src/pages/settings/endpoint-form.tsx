// The form of a new endpoint, or of one that exists.
import { Button, Checkbox, Modal, Select, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { got } from '../../api/client.ts';
import { isFailure } from '../../api/failure.ts';
import type { Endpoint } from '../../api/shapes.ts';
import { useApi } from '../../api/use-api.ts';
import { RequestId } from '../../design/panel.tsx';
import classes from './settings.module.css';

const EVENTS = [
  { value: 'needs_input', label: 'A question waits' },
  { value: 'question.reminded', label: 'A question is due soon' },
  { value: 'question.escalated', label: 'A question was passed on' },
  { value: 'succeeded', label: 'A run succeeded' },
  { value: 'failed', label: 'A run failed' },
  { value: 'cancelled', label: 'A run was cancelled' },
] as const;
const FORMATS = [
  { value: 'webhook', label: 'Webhook: signed JSON' },
  { value: 'slack', label: 'Slack channel' },
  { value: 'teams', label: 'Teams channel' },
];

type EventValue = (typeof EVENTS)[number]['value'];

interface EndpointFormProps {
  /** Null: a new one. */
  readonly endpoint: Endpoint | null;
  readonly onClose: () => void;
  /** `secret`: of a new endpoint that signs. */
  readonly onSaved: (secret?: string) => void;
}

export function EndpointForm({ endpoint, onClose, onSaved }: EndpointFormProps) {
  const { api } = useApi();
  const [name, setName] = useState(endpoint?.name ?? '');
  const [url, setUrl] = useState(endpoint?.url ?? '');
  const [format, setFormat] = useState<Endpoint['format']>(endpoint?.format ?? 'webhook');
  const [events, setEvents] = useState<string[]>(endpoint?.events ?? ['needs_input', 'failed']);
  const [isUnderWay, setUnderWay] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const findingAt = (path: string) =>
    isFailure(error) ? error.details.find((each) => each.path === path)?.message : undefined;
  const save = async (event: FormEvent) => {
    event.preventDefault();
    setUnderWay(true);
    setError(null);
    const body = { name: name.trim(), url: url.trim(), events: events as EventValue[] };
    try {
      if (endpoint === null) {
        onSaved((await got(api.POST('/api/endpoints', { body: { ...body, format } }))).webhook_secret);
      } else {
        const changed = { name: body.name, events: body.events, ...(body.url !== endpoint.url && { url: body.url }) };
        await got(api.PATCH('/api/endpoints/{id}', { params: { path: { id: endpoint.id } }, body: changed }));
        onSaved();
      }
    } catch (refused) {
      setError(refused);
    } finally {
      setUnderWay(false);
    }
  };
  return (
    <Modal opened onClose={onClose} title={endpoint === null ? 'New endpoint' : 'Edit the endpoint'}>
      <form className={classes.form} onSubmit={(event) => void save(event)}>
        <TextInput
          label="Name"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={findingAt('/name')}
          maxLength={200}
          required
          data-autofocus
        />
        {endpoint === null && (
          <Select
            label="Kind"
            data={FORMATS}
            allowDeselect={false}
            value={format}
            onChange={(value) => setFormat(value as Endpoint['format'])}
          />
        )}
        <TextInput
          label="Address"
          description={
            format === 'webhook' ? 'An https address of yours.' : 'The address of the channel’s incoming webhook.'
          }
          value={url}
          onChange={(event) => setUrl(event.currentTarget.value)}
          error={findingAt('/url')}
          maxLength={2_048}
          required
        />
        <Checkbox.Group label="Events" value={events} onChange={setEvents} error={findingAt('/events')}>
          <div className={classes.checks}>
            {EVENTS.map(({ value, label }) => (
              <Checkbox key={value} value={value} label={label} size="xs" />
            ))}
          </div>
        </Checkbox.Group>
        {error === null ? null : (
          <p role="alert" className={classes.error}>
            {error instanceof Error ? error.message : 'The endpoint could not be saved.'} <RequestId error={error} />
          </p>
        )}
        <div className={classes.buttons}>
          <Button variant="default" onClick={onClose} disabled={isUnderWay}>
            Back
          </Button>
          <Button
            type="submit"
            loading={isUnderWay}
            disabled={name.trim() === '' || url.trim() === '' || events.length === 0}
          >
            Save
          </Button>
        </div>
      </form>
    </Modal>
  );
}
