// Asks before an act that cannot be undone, and says what it will do in numbers: "Cancel 1,204 runs".
import { Button, Modal } from '@mantine/core';
import type { ReactNode } from 'react';
import { useState } from 'react';
import classes from './confirm-in-numbers.module.css';
import { RequestId } from './panel.tsx';

interface ConfirmInNumbersProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** Its verb and what it acts on, in numbers; also the button's words. */
  readonly act: string;
  /** What will happen, and what is left out and why. */
  readonly children?: ReactNode;
  readonly isDangerous?: boolean;
  /** False while the numbers are being counted. */
  readonly isReady?: boolean;
  /** Rejects with what is shown here; else the question closes. */
  readonly onConfirm: () => Promise<unknown>;
}

export function ConfirmInNumbers(props: ConfirmInNumbersProps) {
  const { isOpen, onClose, act, children, isDangerous = true, isReady = true, onConfirm } = props;
  const [isUnderWay, setUnderWay] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const close = () => {
    setError(null);
    onClose();
  };
  const confirm = async () => {
    setUnderWay(true);
    setError(null);
    try {
      await onConfirm();
      close();
    } catch (refused) {
      setError(refused);
    } finally {
      setUnderWay(false);
    }
  };
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      onExitTransitionEnd={keepFocus}
      title={`${act}?`}
      size="md"
      closeOnClickOutside={!isUnderWay}
    >
      <div className={classes.body}>
        {children}
        {error === null ? null : (
          <div role="alert" className={classes.error}>
            {error instanceof Error ? error.message : 'It failed.'} <RequestId error={error} />
          </div>
        )}
        <div className={classes.buttons}>
          <Button variant="default" onClick={close} disabled={isUnderWay}>
            Back
          </Button>
          <Button
            onClick={() => void confirm()}
            loading={isUnderWay}
            disabled={!isReady}
            {...(isDangerous && { className: classes.danger ?? '' })}
            data-autofocus
          >
            {act}
          </Button>
        </div>
      </div>
    </Modal>
  );
}

/** The act may have removed the button that asked for it: the focus then goes to the page, not to its beginning. */
function keepFocus(): void {
  if (document.activeElement === document.body) document.getElementById('content')?.focus();
}
