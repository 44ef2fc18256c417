// The target of a connection of ours, and its limits and timing on both sides.
import { type ChannelCredentials, type ChannelOptions, credentials } from '@grpc/grpc-js';

export const MESSAGE_BYTES_MAX = 4 * 1024 * 1024;

// A frozen or disconnected peer is noticed within 3 s, by the side that is alive.
const KEEPALIVE: ChannelOptions = {
  'grpc.keepalive_time_ms': 2_000,
  'grpc.keepalive_timeout_ms': 1_000,
  'grpc.keepalive_permit_without_calls': 1,
  'grpc.max_receive_message_length': MESSAGE_BYTES_MAX,
  'grpc.max_send_message_length': MESSAGE_BYTES_MAX,
  'grpc.enable_channelz': 0,
};

// grpc-js servers accept any number of pings; there is no ping quota to lift.
export const SERVER_OPTIONS: ChannelOptions = {
  ...KEEPALIVE,
  // In MB; grpc-js lifts Node's own bound. Beyond it, as beside a stream whose reader is slow, new streams are refused.
  'grpc-node.max_session_memory': 128,
};

export const CLIENT_OPTIONS: ChannelOptions = {
  ...KEEPALIVE,
  // A refused connection is reported at once and tried again soon: callers decide how long to wait, not the channel.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  // Channels of one process share nothing, so that one's backoff never delays another's first try.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.service_config_disable_resolution': 1,
  // Node to node traffic never goes through a proxy named in the environment.
  'grpc.enable_http_proxy': 0,
  // Messages are not kept for retries: callers retry by their own rules.
  'grpc.enable_retries': 0,
  'grpc-node.flow_control_window': 1024 * 1024,
};

/** The target of a connection, and whether others on the way can read it. */
interface DialTarget {
  /** As gRPC names it. */
  readonly target: string;
  readonly credentials: ChannelCredentials;
}

const TLS = /^https:\/\/([^/]+)\/?$/;
const PORT = /:\d{1,5}$/;

/**
 * `host:port` uses plain text, `https://host` and `https://host:port` use TLS (443 by default). The certificate must be
 * for that host, by an authority that Node trusts or `NODE_EXTRA_CA_CERTS` names.
 */
export function dialTarget(address: string): DialTarget {
  const host = TLS.exec(address)?.[1];
  if (host === undefined) return { target: address, credentials: credentials.createInsecure() };
  return { target: PORT.test(host) ? host : `${host}:443`, credentials: credentials.createSsl() };
}
