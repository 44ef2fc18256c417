// Counts the sends in flight and the bytes of their bodies: in total, for each organization, and for each of its hosts.
// An organization may have as many as are still free, so one gets at most half of them, two a third each, and a
// newcomer always finds some. Hosts are counted by organization: a host that one of them has filled is not full for
// another.
import type { OrgId } from '@methods/base/ids';
import type { ClaimedDelivery } from '../delivery/delivery.ts';
import { MAIL_HOST } from '../email/mail-job.ts';
import type { BusyOrganization, Room } from '../store/claim-statement.ts';

export interface SendSlotsOptions {
  readonly sendsMax: number;
  readonly bytesMax: number;
  /** To one host of one organization. */
  readonly perHostMax: number;
  /** Mails of one organization: as many as it has places at the SMTP server, since one without a place is put off. */
  readonly mailsMax: number;
}

type Send = Pick<ClaimedDelivery, 'orgId' | 'host' | 'body'>;

interface Busy {
  sends: number;
  bytes: number;
  readonly hosts: Map<string, number>;
}

export class SendSlots {
  private readonly organizations = new Map<OrgId, Busy>();
  private sends = 0;
  private bytes = 0;

  constructor(private readonly options: SendSlotsOptions) {}

  get total(): number {
    return this.options.sendsMax;
  }

  /** Further sends; 0 also when bodies use all of their memory. */
  get free(): number {
    return this.freeBytes <= 0 ? 0 : this.options.sendsMax - this.sends;
  }

  get freeBytes(): number {
    return this.options.bytesMax - this.bytes;
  }

  room(): Room {
    const busy = Array.from(this.organizations, ([orgId, held]): BusyOrganization => {
      const hosts = new Map(Array.from(held.hosts, ([host, sends]) => [host, this.hostMax(host) - sends]));
      const sends = share(this.free, held.sends);
      return { orgId, underWay: held.sends, sends, bytes: share(this.freeBytes, held.bytes), hosts };
    });
    const idle = {
      sends: Math.max(1, share(this.free, 0)),
      bytes: share(this.freeBytes, 0),
      hostSends: this.options.perHostMax,
      mailSends: this.options.mailsMax,
    };
    return { busy, idle };
  }

  take({ orgId, host, body }: Send): void {
    const held = this.organizations.get(orgId) ?? { sends: 0, bytes: 0, hosts: new Map<string, number>() };
    this.organizations.set(orgId, held);
    this.add(held, host, 1, body.length);
  }

  giveBack({ orgId, host, body }: Send): void {
    const held = this.organizations.get(orgId);
    if (held === undefined) return;
    this.add(held, host, -1, -body.length);
    if (held.sends === 0) this.organizations.delete(orgId);
  }

  private hostMax(host: string): number {
    return host === MAIL_HOST ? this.options.mailsMax : this.options.perHostMax;
  }

  private add(held: Busy, host: string, sends: number, bytes: number): void {
    this.sends += sends;
    this.bytes += bytes;
    held.sends += sends;
    held.bytes += bytes;
    const toHost = (held.hosts.get(host) ?? 0) + sends;
    if (toHost > 0) held.hosts.set(host, toHost);
    else held.hosts.delete(host);
  }
}

/** Returns the amount that may be added to `held` until it equals the free rest. */
function share(free: number, held: number): number {
  return Math.floor((free - held + 1) / 2);
}
