// Does one operation in the system's keyring, in a separate process: its library waits for the session's bus in the
// calling thread, and a bus that never answers would block the whole command, even for Ctrl-C. The operation comes as
// JSON on stdin; `open` is printed when the keyring is available, then the outcome, each as one line of JSON. It exits
// with 1 if there is no keyring, or if it rejects the data.
import { AsyncEntry } from '@napi-rs/keyring';

const SERVICE = 'methods';

let given = '';
for await (const chunk of process.stdin.setEncoding('utf8')) given += chunk;
const { action, account, text } = JSON.parse(given);
try {
  // The kernel's keyring would also work, but is emptied when the machine restarts.
  const entry = new AsyncEntry(SERVICE, account, { linux: { store: 'secret-service' } });
  say('open');
  if (action === 'read') say((await entry.getPassword()) ?? null);
  else if (action === 'write') say(await entry.setPassword(text).then(() => null));
  else say(await entry.deletePassword().then(() => null));
} catch {
  process.exitCode = 1;
}

function say(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
