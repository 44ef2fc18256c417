// Sends a mail to each SMTP server in the arguments, and prints the replies. It is a separate process, since additional
// authorities are read when a process starts.
import { smtp } from './smtp.ts';

const mail = {
  from: 'Methods <methods@example.com>',
  to: { name: 'Ada', address: 'ada@example.com' },
  ...{ subject: 'approve asks: yes?', text: 'plain\n', html: '<p>rich</p>', messageId: '<1@example.com>' },
  ...{ follows: null, headers: {} },
};
const replies = [];
for (const url of process.argv.slice(2)) {
  const sender = smtp({ url, connectionsMax: 1, timeoutMs: 60_000 });
  replies.push(await sender.send(mail, new AbortController().signal));
  sender.close();
}
process.stdout.write(JSON.stringify(replies));
