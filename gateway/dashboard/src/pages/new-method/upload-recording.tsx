// A recording becomes a method: chosen or dropped, sent in pieces that continue after an interruption, and compiled by
// the server.
import { Button, Progress } from '@mantine/core';
import { type DragEvent, useRef, useState } from 'react';
import { useMethodChanged } from '../../api/method-reads.ts';
import { useApi } from '../../api/use-api.ts';
import { HostileText } from '../../design/hostile-text.tsx';
import { RequestId } from '../../design/panel.tsx';
import { useGo } from '../../frame/navigate.ts';
import classes from './new-method.module.css';
import { type RecordingUpload, sendRecording } from './recording-upload.ts';

const BYTES_MAX = 200 * 1024 * 1024;

type Sending =
  | { readonly kind: 'none' }
  | { readonly kind: 'sending'; readonly file: File; readonly sent: number }
  | {
      readonly kind: 'stopped';
      readonly file: File;
      readonly upload: RecordingUpload;
      readonly sent: number;
      readonly error: unknown;
    }
  | { readonly kind: 'refused'; readonly words: string; readonly error: unknown };

export function UploadRecording() {
  const { api } = useApi();
  const go = useGo();
  const changed = useMethodChanged();
  const [state, setState] = useState<Sending>({ kind: 'none' });
  const [isOver, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const stop = useRef<AbortController | null>(null);

  const send = async (file: File, upload: RecordingUpload) => {
    stop.current = new AbortController();
    let sent = 0;
    setState({ kind: 'sending', file, sent });
    try {
      const method = await sendRecording(api, file, upload, stop.current.signal, (bytes) => {
        sent = bytes;
        setState({ kind: 'sending', file, sent });
      });
      await changed();
      go(`/methods/${method}/recording`);
    } catch (error) {
      setState({ kind: 'stopped', file, upload, sent, error });
    }
  };
  const take = (files: FileList | null) => {
    const file = files?.[0];
    if (file === undefined) return;
    if (file.size === 0) setState({ kind: 'refused', words: 'The file is empty.', error: null });
    else if (file.size > BYTES_MAX)
      setState({ kind: 'refused', words: 'A recording has at most 200 MiB.', error: null });
    else void send(file, { key: crypto.randomUUID(), link: null });
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    take(event.dataTransfer.files);
  };

  if (state.kind === 'sending' || state.kind === 'stopped') {
    const { file, sent } = state;
    const share = Math.floor((sent / file.size) * 100);
    return (
      <section className={classes.upload} aria-label="Upload">
        <p>
          <HostileText text={file.name} max={200} />
        </p>
        <Progress value={share} aria-label="Sent" />
        <p role="status" className={classes.quiet}>
          {share} % of {(file.size / 1024).toLocaleString('en', { maximumFractionDigits: 0 })} KiB
          {state.kind === 'stopped' && '. It has stopped.'}
        </p>
        {state.kind === 'sending' ? (
          <Button variant="default" onClick={() => stop.current?.abort()}>
            Pause
          </Button>
        ) : (
          <>
            {!(state.error instanceof DOMException) && (
              <p role="alert" className={classes.wrong}>
                {state.error instanceof Error ? state.error.message : 'It could not be sent.'}{' '}
                <RequestId error={state.error} />
              </p>
            )}
            <div className={classes.head}>
              <Button onClick={() => void send(file, state.upload)}>Continue</Button>
              <Button variant="subtle" onClick={() => setState({ kind: 'none' })}>
                Choose another file
              </Button>
            </div>
          </>
        )}
      </section>
    );
  }
  return (
    <div
      className={classes.drop}
      data-over={isOver}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <p>Drop a recording here: a HAR file of your browser’s network panel, or the JSON of the Chrome recorder.</p>
      <input
        ref={input}
        type="file"
        accept=".har,.json,application/json"
        className="unseen"
        tabIndex={-1}
        aria-label="Recording"
        onChange={(event) => take(event.currentTarget.files)}
      />
      <Button onClick={() => input.current?.click()}>Choose a file</Button>
      {state.kind === 'refused' && (
        <p role="alert" className={classes.wrong}>
          {state.words}
        </p>
      )}
      <p className={classes.quiet}>
        Passwords and assets are dropped, and what it finds to check is noted on the method’s page.
      </p>
    </div>
  );
}
