// The organization's own settings: its time zone, how long runs are kept, where webhooks may go, and whether content
// stays on devices.
import { Button, NumberInput, Select, Switch, Textarea } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { got } from '../../api/client.ts';
import type { Settings } from '../../api/shapes.ts';
import { useApi } from '../../api/use-api.ts';
import { ConfirmInNumbers } from '../../design/confirm-in-numbers.tsx';
import { Panel, RequestId } from '../../design/panel.tsx';
import { showToast } from '../../frame/toast-list.ts';
import { useSettings } from '../../session/settings.ts';
import { useMay } from '../../session/viewer.tsx';
import classes from './settings.module.css';

const DAYS_MAX = 3_650;

export function GeneralSettings() {
  const settings = useSettings();
  return (
    <Panel query={settings} what="Settings" rows={6}>
      {(found) => <SettingsForm key={JSON.stringify(found)} settings={found} />}
    </Panel>
  );
}

function SettingsForm({ settings }: { readonly settings: Settings }) {
  const { org, api } = useApi();
  const client = useQueryClient();
  const isAdmin = useMay('admin');
  const [zone, setZone] = useState(settings.time_zone);
  const [days, setDays] = useState<number | string>(settings.retention_days);
  const [hosts, setHosts] = useState(settings.webhook_hosts.join('\n'));
  const [isAsking, setAsking] = useState(false);
  const save = useMutation({
    mutationFn: (body: Partial<Settings>) => got(api.PATCH('/api/settings', { body })),
    onSuccess: (saved) => {
      client.setQueryData([org, 'settings'], saved);
      showToast({ text: 'The settings are saved.' });
    },
  });
  const changed = {
    ...(zone !== settings.time_zone && { time_zone: zone }),
    ...(Number(days) !== settings.retention_days && { retention_days: Number(days) }),
    ...(hosts !== settings.webhook_hosts.join('\n') && {
      webhook_hosts: hosts.split(/\s+/).filter((host) => host !== ''),
    }),
  };
  const isShorter = changed.retention_days !== undefined && changed.retention_days < settings.retention_days;
  return (
    <div className={classes.form}>
      <Select
        label="Time zone"
        description="Mails and pages show times in it."
        searchable
        data={zonesWith(settings.time_zone)}
        value={zone}
        onChange={(value) => value !== null && setZone(value)}
        disabled={!isAdmin}
      />
      <NumberInput
        size="xs"
        label="Keep finished runs for"
        description="In days. Older runs are deleted, with their content and files."
        min={1}
        max={DAYS_MAX}
        allowDecimal={false}
        value={days}
        onChange={setDays}
        disabled={!isAdmin}
      />
      <Textarea
        size="xs"
        label="Hosts that webhooks may go to"
        description="One in a line; *.example.com means every name below example.com. Empty: any public host."
        autosize
        minRows={2}
        maxRows={8}
        maxLength={25_000}
        value={hosts}
        onChange={(event) => setHosts(event.currentTarget.value)}
        disabled={!isAdmin}
      />
      {save.error !== null && (
        <p role="alert" className={classes.error}>
          {save.error.message} <RequestId error={save.error} />
        </p>
      )}
      {isAdmin ? (
        <div>
          <Button
            disabled={Object.keys(changed).length === 0 || !(Number(days) >= 1)}
            loading={save.isPending}
            onClick={() => (isShorter ? setAsking(true) : save.mutate(changed))}
          >
            Save
          </Button>
        </div>
      ) : (
        <p className={classes.quiet}>Only admins change settings.</p>
      )}
      <ConfirmInNumbers
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        act={`Keep runs for ${Number(days).toLocaleString('en')} days`}
        onConfirm={() => save.mutateAsync(changed)}
      >
        <p>
          Runs that finished more than {Number(days).toLocaleString('en')} days ago are deleted and cannot be restored.
        </p>
      </ConfirmInNumbers>
      <DeviceSetting isOn={settings.content_on_devices} isAdmin={isAdmin} save={save.mutateAsync} />
    </div>
  );
}

interface DeviceSettingProps {
  readonly isOn: boolean;
  readonly isAdmin: boolean;
  readonly save: (body: Partial<Settings>) => Promise<unknown>;
}

function DeviceSetting({ isOn, isAdmin, save }: DeviceSettingProps) {
  const [isAsking, setAsking] = useState(false);
  return (
    <section className={classes.device} aria-labelledby="device-setting">
      <Switch
        id="device-setting"
        label="Keep run content on devices"
        checked={isOn}
        onChange={() => setAsking(true)}
        disabled={!isAdmin}
      />
      <p className={classes.quiet}>
        Applications and workers encrypt inputs, questions, answers, logs and files with their service key before they
        send them. This server then stores only what it cannot read, and results stay on the workers’ machines.
      </p>
      <ConfirmInNumbers
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        act={isOn ? 'Let the server keep content' : 'Keep content on devices'}
        isDangerous={!isOn}
        onConfirm={() => save({ content_on_devices: !isOn })}
      >
        {isOn ? (
          <p>New runs may send plain content again. Runs that are encrypted stay so.</p>
        ) : (
          <ul className={classes.list}>
            <li>New runs start only from applications and workers that hold a whole service key.</li>
            <li>Runs cannot be started or rerun here, by agents, or with only a sign-in.</li>
            <li>Pages, mails and webhooks show that a question waits, not what it asks.</li>
            <li>A lost key cannot be replaced: what it encrypted stays closed.</li>
            <li>Runs that are queued or waiting now stay as they are.</li>
          </ul>
        )}
      </ConfirmInNumbers>
    </section>
  );
}

/** All zones that the browser knows, and the present one, which it may not. */
function zonesWith(present: string): string[] {
  return [...new Set([present, 'UTC', ...Intl.supportedValuesOf('timeZone')])];
}
