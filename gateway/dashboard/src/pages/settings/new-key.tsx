// Makes a service key in this browser and shows it once.
import { Button, Modal, TextInput } from '@mantine/core';
import { type FormEvent, useRef, useState } from 'react';
import { got } from '../../api/client.ts';
import { useApi } from '../../api/use-api.ts';
import { RequestId } from '../../design/panel.tsx';
import { newServiceKey } from './new-service-key.ts';
import classes from './settings.module.css';
import { ShownSecrets } from './shown-secrets.tsx';

interface NewKeyProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onMade: () => void;
}

export function NewKey({ isOpen, onClose, onMade }: NewKeyProps) {
  const { api } = useApi();
  const [name, setName] = useState('');
  const [isUnderWay, setUnderWay] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [made, setMade] = useState<{ readonly key: string; readonly secret: string } | null>(null);
  // A repeated try after a lost reply sends the same hash, and the server makes no second key.
  const prepared = useRef<Promise<{ readonly key: string; readonly authSha256: string }> | null>(null);
  const close = () => {
    setName('');
    setError(null);
    prepared.current = null;
    onClose();
  };
  const make = async (event: FormEvent) => {
    event.preventDefault();
    setUnderWay(true);
    setError(null);
    try {
      prepared.current ??= newServiceKey();
      const { key, authSha256 } = await prepared.current;
      const reply = await got(api.POST('/api/keys', { body: { name: name.trim(), auth_sha256: authSha256 } }));
      setMade({ key, secret: reply.webhook_secret });
      onMade();
      close();
    } catch (refused) {
      setError(refused);
    } finally {
      setUnderWay(false);
    }
  };
  return (
    <>
      <Modal opened={isOpen} onClose={close} title="New key" closeOnClickOutside={!isUnderWay}>
        <form className={classes.form} onSubmit={(event) => void make(event)}>
          <TextInput
            label="Name"
            description="Of the application that will use it."
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            maxLength={100}
            required
            data-autofocus
          />
          <p className={classes.quiet}>
            The key is made in this browser. Only a hash of its first part is sent: the server cannot know the key.
          </p>
          {error === null ? null : (
            <p role="alert" className={classes.error}>
              {error instanceof Error ? error.message : 'The key could not be made.'} <RequestId error={error} />
            </p>
          )}
          <div className={classes.buttons}>
            <Button variant="default" onClick={close} disabled={isUnderWay}>
              Back
            </Button>
            <Button type="submit" loading={isUnderWay} disabled={name.trim() === ''}>
              Make the key
            </Button>
          </div>
        </form>
      </Modal>
      <ShownSecrets
        title="The new key"
        secrets={
          made === null
            ? []
            : [
                { name: 'SERVICE_API_KEY', value: made.key },
                { name: 'WEBHOOK_SECRET', value: made.secret },
              ]
        }
        onClose={() => setMade(null)}
      />
    </>
  );
}
