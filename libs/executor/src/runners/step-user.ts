// The system user of one runner's steps, used where the worker is root: a number that no other process has, without
// rights on the machine.
import { randomInt } from 'node:crypto';
import { chownSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Distributions, systemd and containers do not assign these numbers. */
const UID_MIN = 1_900_000_000;
const UID_MAX = 2_100_000_000;

/** The kernel's numbers of CHOWN, DAC_OVERRIDE, FOWNER, KILL, SETGID, SETUID, SETPCAP, SYS_PTRACE and SYS_ADMIN. */
const NEEDED = [0, 1, 3, 5, 6, 7, 8, 19, 21];

export interface StepUser {
  readonly uid: number;
  /** `setpriv` of util-linux, which becomes the user. */
  readonly command: string;
}

export function newStepUser(command: string): StepUser {
  return { uid: randomInt(UID_MIN, UID_MAX), command };
}

/** The prefix of the step's command, run as root with SETUID, SETGID and SETPCAP. */
export function asUser({ uid, command }: StepUser): string[] {
  const id = String(uid);
  return [command, `--reuid=${id}`, `--regid=${id}`, '--clear-groups', '--inh-caps=-all', '--bounding-set=-all', '--'];
}

/** Why this process cannot run steps as users of their own. Null: it can try. */
export function userRefusal(): string | null {
  if (process.getuid?.() !== 0) return 'the worker is not root';
  // Packages installed by the worker would be unreadable for its steps.
  if ((process.umask() & 0o055) !== 0) return 'its umask hides its files from other users';
  const effective = /^CapEff:\s*([0-9a-f]+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  const has = BigInt(`0x${effective ?? '0'}`);
  return NEEDED.every((it) => (has >> BigInt(it)) & 1n) ? null : 'it lacks rights of root';
}

/** Writes the files in which programs look up their user into a folder that no step has seen yet. */
export function writeUserFiles({ uid }: StepUser, dir: string, home: string): void {
  const nobody = 'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin';
  writeFileSync(
    join(dir, 'passwd'),
    `root:x:0:0:root:/root:/usr/sbin/nologin\nstep:x:${uid}:${uid}:step:${home}:/bin/sh\n${nobody}\n`,
  );
  writeFileSync(join(dir, 'group'), `root:x:0:\nstep:x:${uid}:\nnogroup:x:65534:\n`);
}

/** Safe only for folders that no step has seen yet, because it follows the path. */
export function giveFolder({ uid }: StepUser, dir: string): void {
  chownSync(dir, uid, uid);
}
