// Secrets that are shown once: as lines of an .env file, each with a button that copies it.
import { Button, Modal } from '@mantine/core';
import { Command } from '../../design/command.tsx';
import classes from './settings.module.css';

interface ShownSecret {
  /** Of the variable in an .env file. */
  readonly name: string;
  readonly value: string;
}

interface ShownSecretsProps {
  readonly title: string;
  /** Empty: nothing is shown. */
  readonly secrets: readonly ShownSecret[];
  readonly onClose: () => void;
}

export function ShownSecrets({ title, secrets, onClose }: ShownSecretsProps) {
  return (
    <Modal opened={secrets.length > 0} onClose={onClose} title={title} size="lg" closeOnClickOutside={false}>
      <div className={classes.secrets}>
        <p>Copy it now: it is shown only once. As lines of the .env file of your application:</p>
        {secrets.map(({ name, value }) => (
          <Command key={name} text={`${name}=${value}`} />
        ))}
        <div className={classes.buttons}>
          <Button onClick={onClose}>I have copied {secrets.length === 1 ? 'it' : 'both'}</Button>
        </div>
      </div>
    </Modal>
  );
}
