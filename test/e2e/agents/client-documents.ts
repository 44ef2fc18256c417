// Clients as https documents (CIMD), served on this machine under a certificate authority of its own.
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { ownCertificate } from '../../harness/own-certificate.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { CLIENT_METADATA } from './agent-sign-in.ts';

export class ClientDocuments {
  private readonly documents = new Map<string, object>();
  private readonly readPaths: string[] = [];

  private constructor(
    private readonly server: Server,
    private readonly folder: string,
    readonly authorityFile: string,
  ) {}

  static async served(): Promise<ClientDocuments> {
    const folder = tempFolder('client-documents');
    const { key, certificate, authorityFile } = await ownCertificate(folder);
    const server = createServer({ key, cert: certificate });
    const served = new ClientDocuments(server, folder, authorityFile);
    server.on('request', ({ url: path = '' }, response) => {
      served.readPaths.push(path);
      response.setHeader('content-type', 'application/json').end(JSON.stringify(served.documents.get(path) ?? null));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return served;
  }

  /** The address of the client with this name, which is its id. */
  clientUrl(name: string, over: object = {}): string {
    const path = `/${name}.json`;
    const url = `https://localhost:${(this.server.address() as AddressInfo).port}${path}`;
    if (!this.documents.has(path)) this.documents.set(path, { ...CLIENT_METADATA, client_id: url, ...over });
    return url;
  }

  reads(name: string): number {
    return this.readPaths.filter((path) => path === `/${name}.json`).length;
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
    rmSync(this.folder, { recursive: true });
  }
}
