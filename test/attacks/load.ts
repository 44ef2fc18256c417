// A process of its own that attacks, with little priority, as an attacker is on another machine. Its first argument says
// whom. Each line of its standard input is the name of an attack to begin, or empty: the attack ends, and a line says how
// many requests got which reply. Ends with its standard input.
import { setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import { AttackEnd, type AttackTarget } from './attack.ts';
import { attacks } from './attacks.ts';

const target = JSON.parse(process.argv[2] ?? '{}') as AttackTarget;
let end = new AttackEnd();
let replies = new Map<string, number>();

setPriority(10);
createInterface({ input: process.stdin })
  .on('line', (name) => {
    if (name !== '') {
      end = new AttackEnd();
      const counted = new Map<string, number>();
      replies = counted;
      attacks[name]?.(target, end, (reply) => void counted.set(reply, (counted.get(reply) ?? 0) + 1));
      return void process.stdout.write('begun\n');
    }
    const text = JSON.stringify(Object.fromEntries(replies));
    end.reach();
    process.stdout.write(`${text}\n`);
  })
  .on('close', () => process.exit(0));
