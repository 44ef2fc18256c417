// Whether a worker on this machine would reach the endpoint that gives out runs: HTTP/2, as gRPC speaks it.
import { connect } from 'node:http2';
import { certificateFault } from '../server/connection-fault.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const TIME_MAX_MS = 5_000;
const ADDRESSES_MAX = 16;
const NAME = 'worker endpoint';

/** `grpcUrl`: `host:port`, or `https://host:port` over TLS, with commas between several. */
export async function workerEndpointFinding(grpcUrl: string | null): Promise<Finding> {
  if (grpcUrl === null) {
    return warning(NAME, 'the server names none', 'its operator sets GRPC_PUBLIC_URL, or workers get METHODS_GRPC_URL');
  }
  const addresses = grpcUrl.split(',').slice(0, ADDRESSES_MAX);
  const faults = await Promise.all(addresses.map(faultOf));
  const away = addresses.filter((_, i) => faults[i] !== null);
  if (away.length === 0) return ok(NAME, `${grpcUrl} speaks gRPC`);
  const found = `${away.join(', ')}: ${faults.find((fault) => fault !== null)}`;
  const remedy = found.includes('its certificate ')
    ? 'if the authority is your own, name its file in NODE_EXTRA_CA_CERTS'
    : 'let this machine through the firewall to it; a proxy in between has to speak HTTP/2';
  return away.length < addresses.length ? warning(NAME, found, remedy) : problem(NAME, found, remedy);
}

function faultOf(address: string): Promise<string | null> {
  return new Promise((resolve) => {
    const origin = address.startsWith('https://') ? address : `http://${address}`;
    if (!URL.canParse(origin)) return resolve('is no address');
    const session = connect(origin);
    const settle = (fault: string | null) => {
      clearTimeout(timer);
      session.destroy();
      resolve(fault);
    };
    const timer = setTimeout(() => settle('does not answer'), TIME_MAX_MS);
    session.once('remoteSettings', () => settle(null));
    session.on('error', (error: NodeJS.ErrnoException) => {
      const certificate = certificateFault(error);
      if (certificate !== null) settle(`its certificate ${certificate}`);
      else settle(error.code === 'ECONNREFUSED' ? 'nothing listens there' : 'does not speak HTTP/2');
    });
    session.once('close', () => settle('ends the connection'));
  });
}
