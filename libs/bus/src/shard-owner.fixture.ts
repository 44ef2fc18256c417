// A process that owns a shard and never acknowledges, for the test that freezes it. Arguments: url, shard, epoch.
// Prints `got <data>` for each command and `lost <shard>` when it finds a successor.
import { silentLogger } from '@methods/logging/logger';
import { Bus } from './connection.ts';
import { commandDelivery } from './subjects.ts';

const [url = '', shard = '0', epoch = '1'] = process.argv.slice(2);
const bus = new Bus({ url, name: 'frozen', logger: silentLogger });
const mailbox = bus.consumeShardCommands({
  deliverTo: commandDelivery('frozen'),
  onMessage: (_shard, data) => console.log(`got ${new TextDecoder().decode(data)}`),
  onLost: (lost) => console.log(`lost ${lost}`),
});
mailbox.own(Number(shard), Number(epoch));
bus.start();
