import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import { InMemoryArtifactService } from '@google/adk';
import { InMemorySessionService } from '../../../../js/index.js';
import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { exportSessions, importSessions } from '../../../../js/service/files/index.js';
import type { OpenedSessionService } from '../../../../js/service/open_session_service.js';
import { newPath, newUrl } from '../../command/sqlite_stores.js';
import { command } from '../../command/stores.js';
import { bytesOf } from '../artifacts/behaviours.js';

const appName = 'shop';
const key = { appName, userId: 'ada', sessionId: 's1' };
const MIB = 2 ** 20;

/** Two sessions with files, and a file of the user. */
async function fill(service: OpenedSessionService): Promise<void> {
  for (const sessionId of ['s1', 's2']) await service.createSession({ ...key, sessionId });
  const { artifacts } = service;
  const data = new Blob([bytesOf(2 * MIB + 5)], { type: 'image/png' });
  const facts = { author: 'user', displayName: 'Ä', customMetadata: { a: 1 }, id: 'put 1' };
  await artifacts.put({ ...key, filename: 'a.png', data, ...facts });
  await artifacts.saveArtifact({ ...key, filename: 'a.png', artifact: { text: 'a text' } });
  await artifacts.put({ ...key, filename: 'empty', data: new Blob([], { type: 'a/b' }) });
  await artifacts.put({ ...key, filename: 'gone', data });
  await artifacts.deleteArtifact({ ...key, filename: 'gone' });
  await artifacts.put({ ...key, filename: 'gone', data: bytesOf(3) });
  await artifacts.put({ ...key, filename: 'user:b', data: bytesOf(9) });
}

/** All that a service tells of its files, and their bytes. */
async function filesOf(service: OpenedSessionService): Promise<unknown> {
  const { artifacts } = service;
  const files: object[] = [];
  for (const filename of await artifacts.listArtifactKeys(key)) {
    for (const { hash, ...told } of await artifacts.listArtifactVersions({
      ...key,
      filename,
    })) {
      const { version } = told;
      const blob = await artifacts.open({ ...key, filename, version });
      const part = await artifacts.loadArtifact({ ...key, filename, version });
      const bytes = Buffer.from(await blob!.arrayBuffer()).toString('base64');
      files.push({
        filename,
        ...told,
        isHashed: hash !== undefined,
        bytes,
        isText: part?.text !== undefined,
      });
    }
  }
  return files;
}

async function linesOf(service: OpenedSessionService): Promise<string[]> {
  const lines = [];
  for await (const line of exportSessions(service, { appName })) lines.push(line);
  return lines;
}

type LineError = [kind: string, sessionId: string | undefined, code: string];

async function errorsOf(
  service: OpenedSessionService,
  lines: Iterable<string>,
): Promise<LineError[]> {
  const errors: LineError[] = [];
  for await (const { kind, sessionId, error } of importSessions(service, lines)) {
    if (error !== undefined) errors.push([kind, sessionId, error.code]);
  }
  return errors;
}

describe('Files in exported lines', () => {
  it('of a service of @google/adk, which tells no sizes, are exported and imported', async () => {
    const given = new InMemoryArtifactService();
    const service = new InMemorySessionService({ artifacts: given });
    await service.createSession(key);
    const fileData = { fileUri: 'gs://b/c', mimeType: 'image/png' };
    await given.saveArtifact({ ...key, filename: 'elsewhere', artifact: { fileData } });
    await service.artifacts.put({ ...key, filename: 'a', data: bytesOf(MIB + 3) });
    // Its two bytes are no UTF-8.
    const latin = { inlineData: { mimeType: 'text/plain', data: '6UE=' } };
    await given.saveArtifact({ ...key, filename: 'latin', artifact: latin });
    const other = new InMemorySessionService({ artifacts: true });
    for await (const { error } of importSessions(other, await linesOf(service)))
      assert.equal(error, undefined);
    assert.equal((await other.artifacts.open({ ...key, filename: 'a' }))?.size, MIB + 3);
    assert.deepEqual(await other.artifacts.listArtifactKeys(key), ['a', 'latin']);
    assert.deepEqual(await other.artifacts.loadArtifact({ ...key, filename: 'latin' }), latin);
    assert.equal(await service.artifacts.open({ ...key, filename: 'elsewhere' }), undefined);
  });

  it('have a MiB a line, and come back as they were', async () => {
    const service = new InMemorySessionService({ artifacts: true });
    await fill(service);
    const lines = await linesOf(service);
    assert.ok(lines.every(({ length }) => length < 1.5 * MIB));
    const next = new InMemorySessionService({ artifacts: true });
    assert.deepEqual(await errorsOf(next, lines), []);
    assert.deepEqual(await filesOf(next), await filesOf(service));
    // After an interruption the same lines bring the rest.
    const sessions = ['s1', 's2'].map((sessionId) => ['session', sessionId, 'already_exists']);
    await next.artifacts.deleteArtifact({ ...key, filename: 'user:b' });
    const errors = await errorsOf(next, lines);
    assert.deepEqual(errors.sort(), sessions);
    await service.close();
    await next.close();
  });

  it('are refused by a service that keeps none, and by one without their session', async () => {
    const service = new InMemorySessionService({ artifacts: true });
    await fill(service);
    const lines = await linesOf(service);
    const refused = await errorsOf(new InMemorySessionService(), lines);
    const kinds = new Set(refused.map(([kind, , code]) => `${kind} ${code}`));
    assert.deepEqual([...kinds], ['artifact artifact_service_missing']);
    const files = lines.filter((line) => line.includes('"filename":"empty"'));
    const without = await errorsOf(new InMemorySessionService({ artifacts: true }), files);
    assert.deepEqual(without, [['artifact', 's1', 'not_found']]);
    await service.close();
  });

  it('are refused if they name no session, and no file of a user', async () => {
    const service = new InMemorySessionService({ artifacts: true });
    await fill(service);
    const lines = (await linesOf(service)).map((line) => line.replace('"user:b"', '"b"'));
    const next = new InMemorySessionService({ artifacts: true });
    await next.createSession({ ...key, sessionId: 'any' });
    assert.deepEqual(await errorsOf(next, lines), [['artifact', undefined, 'invalid_argument']]);
    await service.close();
    await next.close();
  });

  it('are refused if a part of them is missing or is no base64', async () => {
    const service = new InMemorySessionService({ artifacts: true });
    await fill(service);
    const lines = await linesOf(service);
    const first = lines.findIndex((line) => line.includes('"chunk":0,"chunks":3'));
    const next = new InMemorySessionService({ artifacts: true });
    const errors = await errorsOf(
      next,
      lines
        .filter((_, index) => index !== first + 1)
        .map((line) => line.replace(/"data":"CR[^"]*"/, '"data":"?"')),
    );
    assert.ok(errors.every(([kind, , code]) => kind === 'artifact' && code === 'invalid_argument'));
    assert.ok(errors.length >= 1);
    assert.deepEqual(await next.artifacts.listVersions({ ...key, filename: 'a.png' }), [1]);
    await service.close();
    await next.close();
  });

  for (const service of [
    new InMemorySessionService({ artifacts: true }),
    new DatabaseSessionService('sqlite::memory:', { artifacts: true }),
  ]) {
    it(`come back after they were deleted from ${service.constructor.name}`, async () => {
      await fill(service);
      const [files, lines] = [await filesOf(service), await linesOf(service)];
      for (const filename of ['a.png', 'empty', 'user:b']) {
        await service.artifacts.deleteArtifact({ ...key, filename });
      }
      await errorsOf(service, lines);
      assert.deepEqual(await filesOf(service), files);
      // The next number is not that of a version.
      const data = bytesOf(1);
      assert.equal((await service.artifacts.put({ ...key, filename: 'a.png', data })).version, 2);
      await service.close();
    });
  }

  it('are told if the stream ends, or goes on with something else, within one of them', async () => {
    const service = new InMemorySessionService({ artifacts: true });
    await fill(service);
    const lines = await linesOf(service);
    const first = lines.findIndex((line) => line.includes('"chunk":0,"chunks":3'));
    const told = [['artifact', 's1', 'invalid_argument']];
    const without = (...removed: number[]) => lines.filter((_, index) => !removed.includes(index));
    for (const cut of [lines.slice(0, first + 2), without(first + 1, first + 2)]) {
      const next = new InMemorySessionService({ artifacts: true });
      assert.deepEqual(await errorsOf(next, cut), told);
      await next.close();
    }
    const [from, to] = [newPath('.jsonl'), newUrl()];
    writeFileSync(from, lines.slice(0, first + 2).join('\n'));
    const outcome = await command('copy', from, to);
    assert.equal(outcome.code, 1);
    assert.match(outcome.err, /"a.png" are not complete/);
    await service.close();
  });

  it('are refused if the number of their lines is none', async () => {
    const service = new InMemorySessionService({ artifacts: true });
    await fill(service);
    const lines = await linesOf(service);
    for (const chunks of ['0', '1.5', '"x"', 'null']) {
      const next = new InMemorySessionService({ artifacts: true });
      const spoilt = lines.map((line) =>
        line.includes('"empty"') ? line.replace('"chunks":1', `"chunks":${chunks}`) : line,
      );
      assert.deepEqual(await errorsOf(next, spoilt), [['artifact', 's1', 'invalid_argument']]);
      await next.close();
    }
    await service.close();
  });

  it('are compared by their bytes when they are copied', async () => {
    const urls = [newUrl(), newUrl()] as const;
    for (const [index, url] of urls.entries()) {
      const service = new DatabaseSessionService(url, { artifacts: true });
      await service.createSession(key);
      await service.artifacts.put({ ...key, filename: 'a', data: new Uint8Array([index]) });
      await service.close();
    }
    const outcome = await command('copy', ...urls);
    assert.match(outcome.err, /file "a" .*TO has a different file with its version/);
  });

  it('are copied from one database to another, also through a file', async () => {
    const [from, to, file, last] = [newUrl(), newUrl(), newPath('.jsonl'), newUrl()];
    const source = new DatabaseSessionService(from, { artifacts: true });
    await fill(source);
    const files = await filesOf(source);
    await source.close();
    for (const [one, other] of [
      [from, to],
      [from, file],
      [file, last],
      [from, to],
    ] as const) {
      const outcome = await command('copy', one, other);
      assert.deepEqual([outcome.code, outcome.err], [0, '']);
    }
    for (const url of [to, last]) {
      const copy = new DatabaseSessionService(url, { artifacts: true });
      assert.deepEqual(await filesOf(copy), files);
      await copy.close();
    }
  });
});
