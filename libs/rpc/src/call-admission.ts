// What happens to a call of a server before any of its messages is read: its credential is checked, its share of calls
// and the size of its messages are set, and compressed messages are refused. Nothing of a stranger is ever decoded.
import {
  type Metadata,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  status,
} from '@grpc/grpc-js';
import { Shares } from '@methods/base/shares';
import { toGrpcError } from '@methods/errors/grpc-status';
import { overShare } from '@methods/errors/over-share';

/** Whose call it is. */
export interface CallOwner {
  readonly orgId: string;
  readonly keyId: string;
}

export interface Admission {
  /** Who calls. @throws ServiceError for whom is not let in */
  readonly ownerOf: (metadata: Metadata) => Promise<CallOwner>;
  /** Calls and streams that are open at a time. */
  readonly callsMax: number;
  readonly callsPerOrganizationMax: number;
  /** Of one address, calls whose credential is being looked up. */
  readonly lookupsPerAddressMax: number;
}

export interface CallAdmissionOptions {
  readonly requestBytesMax: (path: string) => number;
  /** Null: the port is for processes of ours only. */
  readonly admission: Admission | null;
  readonly onAdmitted: (remoteAddress: string | undefined, remotePort: number | undefined) => void;
}

const HEALTH = '/grpc.health.v1.Health/';
const LOOKUPS_MAX = 1_024;

/** What grpc-js keeps of a call and offers no option for. */
interface CallInside {
  incomingEncoding?: string;
  maxReceiveMessageSize?: number;
  decoder?: { maxReadMessageLength?: number };
}

export function callAdmission({ requestBytesMax, admission, onAdmitted }: CallAdmissionOptions): ServerInterceptor {
  const calls = new Shares(callShares(admission));
  const lookups = new Shares({ placesMax: LOOKUPS_MAX, perOrganizationMax: admission?.lookupsPerAddressMax ?? 0 });
  return ({ path }, call) => {
    const compressed = limitMessages(call as CallInside, requestBytesMax(path));
    const { remoteAddress, remotePort } = call.getConnectionInfo();
    let leave = (): void => {};
    const open = admission !== null && path.startsWith(HEALTH);
    let gone = false;

    const admit = async ({ ownerOf }: Admission, metadata: Metadata): Promise<void> => {
      const lookup = lookups.take(String(remoteAddress));
      if (!lookup.ok) throw overShare('lookups of keys', lookup, 1_000);
      try {
        const { orgId, keyId } = await ownerOf(metadata);
        const place = calls.take(orgId, keyId);
        if (!place.ok) throw overShare('calls', place);
        leave = place.leave;
        if (gone) leave();
      } finally {
        lookup.leave();
      }
    };

    return new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata(metadata, pass) {
            if (compressed) {
              call.sendStatus({ code: status.UNIMPLEMENTED, details: 'Messages must not be compressed.' });
              return;
            }
            const admitted = () => {
              // Whoever asks for nothing but health needs no credential, and no connection for long.
              if (!open) onAdmitted(remoteAddress, remotePort);
              pass(metadata);
            };
            if (admission === null || open) admitted();
            else admit(admission, metadata).then(admitted, (error) => call.sendStatus(toGrpcError(error)));
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

/** True when the caller says that it compresses. The test of compressed messages guards the private fields. */
function limitMessages(call: CallInside & Partial<ServerInterceptingCallInterface>, bytesMax: number): boolean {
  call.maxReceiveMessageSize = bytesMax;
  if (call.decoder) call.decoder.maxReadMessageLength = bytesMax;
  return call.incomingEncoding !== undefined && call.incomingEncoding !== 'identity';
}
