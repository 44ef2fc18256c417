// A process of its own that attacks: told by one JSON argument what to do, with little priority, as an attacker is on
// another machine. Ends with its standard input, and prints how many requests got which reply.
import { setPriority } from 'node:os';
import { type AttackTarget, attacks } from './attacks.ts';

const { attack, target } = JSON.parse(process.argv[2] ?? '{}') as { attack: string; target: AttackTarget };
const stop = new AbortController();
const replies = new Map<string, number>();

setPriority(10);
process.stdin.on('end', () => stop.abort()).resume();
process.stdout.write('begins\n');
await attacks[attack]?.(target, stop.signal, (reply) => replies.set(reply, (replies.get(reply) ?? 0) + 1));
process.stdout.write(`${JSON.stringify(Object.fromEntries(replies))}\n`, () => process.exit(0));
