// Admits a call of a server before any of its messages is read: checks its credential, sets its share of calls and the
// size of its messages, and refuses compressed messages. Messages of an unknown caller are never decoded.
import type { Http2Session, ServerHttp2Stream } from 'node:http2';
import {
  type Metadata,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  status,
} from '@grpc/grpc-js';
import { type Clock, systemClock } from '@methods/base/clock';
import type { OrgId } from '@methods/base/ids';
import { Shares } from '@methods/base/shares';
import { SlowLane } from '@methods/base/slow-lane';
import { toGrpcError } from '@methods/errors/grpc-status';
import { overShare } from '@methods/errors/service-error';

/** The caller's organization and key. */
interface CallOwner {
  readonly orgId: OrgId;
  /** Of its credential: a key or a person. */
  readonly keyId: string;
}

export interface Admission {
  /** The caller. @throws ServiceError for a caller that is refused */
  readonly ownerOf: (metadata: Metadata) => Promise<CallOwner>;
  /** Calls and streams that are open at a time. */
  readonly callsMax: number;
  readonly callsPerOrganizationMax: number;
  /** Streams that a client opens rarely and that cost much: too many of one key in a short time begin late. */
  readonly seldomPath: string;
  /** Calls of one address whose credential is being looked up. */
  readonly lookupsPerAddressMax: number;
}

interface CallAdmissionOptions {
  readonly requestBytesMax: (path: string) => number;
  /** Null: the port is for processes of ours only. */
  readonly admission: Admission | null;
  /** That may be open at a time. */
  readonly streamsPerConnectionMax: number;
  /** Default: the system's. */
  readonly clock?: Clock | undefined;
  readonly onAdmitted: (remoteAddress: string | undefined, remotePort: number | undefined) => void;
}

const HEALTH = '/grpc.health.v1.Health/';
const LOOKUPS_MAX = 1_024;

/** The private fields of a call in grpc-js, for which it has no option. */
interface CallInside {
  readonly stream?: ServerHttp2Stream;
  incomingEncoding?: string;
  maxReceiveMessageSize?: number;
  decoder?: { maxReadMessageLength?: number };
}

export function callAdmission({
  requestBytesMax,
  admission,
  onAdmitted,
  streamsPerConnectionMax,
  clock = systemClock,
}: CallAdmissionOptions): ServerInterceptor {
  const calls = new Shares(callShares(admission));
  const lookups = new Shares({ placesMax: LOOKUPS_MAX, perOrganizationMax: admission?.lookupsPerAddressMax ?? 0 });
  const lane = new SlowLane(clock);
  const bursts = new CallBursts(streamsPerConnectionMax);
  return ({ path }, call) => {
    const { session } = (call as CallInside).stream ?? {};
    if (session) bursts.begins(session);
    const compressed = limitMessages(call as CallInside, requestBytesMax(path));
    const { remoteAddress, remotePort } = call.getConnectionInfo();
    let leave = (): void => {};
    const open = admission !== null && path.startsWith(HEALTH);
    let gone = false;

    // A client that continues after refusals gets them late: each is a wasted connection or call.
    const refuse = (refusal: Parameters<typeof call.sendStatus>[0]): void => {
      if (admission === null) call.sendStatus(refusal);
      else lane.pass(`address ${remoteAddress}`, () => call.sendStatus(refusal));
    };
    const admit = async ({ ownerOf, seldomPath }: Admission, metadata: Metadata): Promise<void> => {
      const lookup = lookups.take(String(remoteAddress));
      if (!lookup.ok) throw overShare('lookups of keys', lookup, 1_000);
      let owner: CallOwner;
      try {
        owner = await ownerOf(metadata);
      } finally {
        lookup.leave();
      }
      if (path === seldomPath) await new Promise<void>((go) => lane.pass(`key ${owner.keyId}`, go));
      const place = calls.take(owner.orgId, owner.keyId);
      if (!place.ok) throw overShare('calls', place);
      leave = place.leave;
      if (gone) leave();
    };

    return new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata(metadata, pass) {
            if (compressed) {
              return refuse({ code: status.UNIMPLEMENTED, details: 'Messages must not be compressed.' });
            }
            const admitted = () => {
              // A client that asks only for health needs no credential, and no connection for long.
              if (!open) onAdmitted(remoteAddress, remotePort);
              pass(metadata);
            };
            if (admission === null || open) admitted();
            else admit(admission, metadata).then(admitted, (error) => refuse(toGrpcError(error)));
          },
          onCancel() {
            gone = true;
            leave();
          },
        }),
    });
  };
}

function callShares(admission: Admission | null) {
  return { placesMax: admission?.callsMax ?? 0, perOrganizationMax: admission?.callsPerOrganizationMax ?? 0 };
}

/** True when the caller announces compression. The test of compressed messages guards the private fields. */
function limitMessages(call: CallInside & Partial<ServerInterceptingCallInterface>, bytesMax: number): boolean {
  call.maxReceiveMessageSize = bytesMax;
  if (call.decoder) call.decoder.maxReadMessageLength = bytesMax;
  return call.incomingEncoding !== undefined && call.incomingEncoding !== 'identity';
}

/**
 * Bounds the calls of one connection that begin in a turn of the event loop. The bound on open calls does not help
 * against a client that resets each call at once, since it has none open: a packet of 64 KiB holds 2,000 calls that are
 * begun and reset.
 */
class CallBursts {
  private begun: Map<Http2Session, number> | null = null;

  constructor(private readonly callsMax: number) {}

  /** Beyond the bound the connection is closed, and the rest of its input is not read. */
  begins(session: Http2Session): void {
    if (this.begun === null) {
      this.begun = new Map();
      setImmediate(() => {
        this.begun = null;
      });
    }
    const calls = (this.begun.get(session) ?? 0) + 1;
    this.begun.set(session, calls);
    if (calls > this.callsMax) session.destroy();
  }
}
