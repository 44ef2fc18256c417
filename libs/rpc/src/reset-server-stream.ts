// Ends a server's call at once. grpc-js offers only an orderly end, which waits for a peer that may never read.
import { constants, type ServerHttp2Stream } from 'node:http2';

interface CallInside {
  readonly call?: CallInside;
  readonly nextCall?: CallInside;
  readonly stream?: ServerHttp2Stream;
}

/** Resets the HTTP/2 stream below a server's call and drops what waits to be written. */
export function resetServerStream(call: { destroy(): unknown }): void {
  // Private fields of grpc-js 1.14: call -> (interceptors) -> stream. The test of a peer that does not read guards this.
  let inside: CallInside | undefined = (call as unknown as CallInside).call;
  while (inside && !inside.stream) inside = inside.nextCall;
  inside?.stream?.close(constants.NGHTTP2_CANCEL);
  call.destroy();
}
