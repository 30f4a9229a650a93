// Servers with a self-signed certificate: each refusal says what to do. The options can name the certificate to accept.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { inspect } from 'node:util';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { isSessionError } from '../../../../../js/index.js';
import { emptied, type Server, type ServerName, SERVERS } from '../servers.js';

const KEY = { appName: 'app', userId: 'user', sessionId: 'session' };
/** What the option must hold. */
const FIX = /driverOptions: \{ ssl: \{ ca \} \}/;

async function refuses(url: string, options: object, message: RegExp): Promise<void> {
  const service = new DatabaseSessionService(url, options);
  await assert.rejects(service.ping(), (error) => {
    assert.ok(isSessionError(error, 'storage_unavailable'), inspect(error));
    assert.match(error.message, message);
    assert.match(error.message, FIX);
    return true;
  });
  await service.close();
}

async function works(url: string, options: object): Promise<void> {
  const service = new DatabaseSessionService(url, options);
  await service.getOrCreateSession(KEY);
  await service.close();
}

/** How a URL or the options ask for TLS, with and without a check of the certificate. */
const TLS: Readonly<Record<ServerName, { verified: Asked; unverified: Asked }>> = {
  postgresql: {
    verified: { search: '?sslmode=verify-full', options: {} },
    unverified: { search: '?ssl=require', options: {} },
  },
  mariadb: {
    verified: { search: '', options: withTls({}) },
    unverified: { search: '', options: withTls({ rejectUnauthorized: false }) },
  },
};

interface Asked {
  readonly search: string;
  readonly options: object;
}

function withTls(ssl: object) {
  return { driverOptions: { ssl } };
}

for (const kind of Object.keys(TLS) as ServerName[]) {
  const { verified, unverified } = TLS[kind];
  describe(`A TLS connection to ${kind}`, () => {
    let server: Server;
    let url: string;
    before(async () => {
      server = await SERVERS[kind].start({ tls: true });
      url = await emptied(kind, server);
    });
    after(() => server.remove());

    it('is refused if no known authority signed the certificate', async () => {
      await refuses(url + verified.search, verified.options, /self-signed certificate/);
    });

    it('is refused if the certificate belongs to another host', async () => {
      const ssl = { ca: server.certificate(), verifyIdentity: true };
      await refuses(url.replace('127.0.0.1', 'localhost'), withTls(ssl), /altnames/);
    });

    it('is accepted with the certificate that the options name', async () => {
      const ssl = { ca: server.certificate(), servername: 'db.example' };
      await works(url, withTls(ssl));
    });

    it('is accepted with any certificate if the options disable verification', async () => {
      await works(url + unverified.search, unverified.options);
    });
  });
}
