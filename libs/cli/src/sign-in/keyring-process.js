// One thing done in the system's keyring, in a process of its own: its library waits for the session's bus in the thread
// it is called in, and a bus that never answers would hold the whole command, deaf to Ctrl-C. What to do comes as JSON on
// stdin; `open` is said when the keyring is there, then the outcome, each as one line of JSON. It ends with 1 where there is
// no keyring, or it does not take what it is given.
import { AsyncEntry } from '@napi-rs/keyring';

const SERVICE = 'methods';

let given = '';
for await (const chunk of process.stdin.setEncoding('utf8')) given += chunk;
const { action, account, text } = JSON.parse(given);
try {
  // The kernel's keyring would do too, but forgets everything when the machine starts again.
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
